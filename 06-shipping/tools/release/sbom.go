package release

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const sbomMediaType = "application/vnd.cyclonedx+json"

// sbom is the list of what is in an image, as the program image writes it.
type sbom struct {
	content []byte
	digest  v1.Hash
	image   string // the address of the image that it is of
	modules []resource
}

func readSBOM(path string) (sbom, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return sbom{}, fmt.Errorf("reading the SBOM: %w; name another with --sbom", err)
	}
	s, err := parseSBOM(content)
	if err != nil {
		return sbom{}, fmt.Errorf("%s is no SBOM of an image: %w; name another with --sbom", path, err)
	}
	return s, nil
}

func parseSBOM(content []byte) (sbom, error) {
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(content), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		return sbom{}, err
	}
	if bom.Metadata == nil || bom.Metadata.Component == nil || bom.Components == nil {
		return sbom{}, fmt.Errorf("it does not say of what it is")
	}
	digest, _, err := v1.SHA256(bytes.NewReader(content))
	if err != nil {
		return sbom{}, err
	}
	s := sbom{content: content, digest: digest, image: bom.Metadata.Component.PackageURL}
	for _, c := range *bom.Components {
		if c.Type == cyclonedx.ComponentTypeLibrary && c.Version != "" {
			s.modules = append(s.modules, resource{URI: c.PackageURL, Digest: dirHash(c)})
		}
	}
	return s, nil
}

// isOf is whether the SBOM was written for an image with this digest.
func (s sbom) isOf(digest v1.Hash) bool {
	return strings.Contains(s.image, "@"+url.QueryEscape(digest.String()))
}

// dirHash is Go's checksum of a module, h1, in the form that in-toto has for it. The
// standard library has none: it comes with Go.
func dirHash(c cyclonedx.Component) map[string]string {
	if c.Properties == nil {
		return nil
	}
	for _, p := range *c.Properties {
		sum, isH1 := strings.CutPrefix(p.Value, "h1:")
		if raw, err := base64.StdEncoding.DecodeString(sum); p.Name == "go:sum" && isH1 && err == nil {
			return map[string]string{"dirHash": hex.EncodeToString(raw)}
		}
	}
	return nil
}
