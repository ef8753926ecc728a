package image

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// program is a compiled program, and what Go wrote into it about itself.
type program struct {
	platform v1.Platform
	sum      string // SHA-256
	built    *debug.BuildInfo
}

func readProgram(path string, platform v1.Platform) (program, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	built, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	sum := sha256.Sum256(content)
	return program{platform, hex.EncodeToString(sum[:]), built}, nil
}

// newSBOM lists what is in an image: its programs, every module that is linked
// into one of them, and Go's standard library. It says only what is known. Go
// does not note the licences of modules, so only our own and Go's are named.
func newSBOM(about About, digest v1.Hash, programs []program) *cyclonedx.BOM {
	image := component(cyclonedx.ComponentTypeContainer, about.Name, about.Version,
		"pkg:oci/"+about.Name+"@"+url.QueryEscape(digest.String())+"?tag="+about.Version)
	image.Licenses = licences(licence)

	var all []cyclonedx.Component
	for _, p := range programs {
		all = append(all, programComponent(about, p), goComponent(p.built.GoVersion))
		for _, dependency := range p.built.Deps {
			all = append(all, moduleComponent(dependency))
		}
	}
	order := func(a, b cyclonedx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) }
	slices.SortFunc(all, order)
	all = slices.CompactFunc(all, func(a, b cyclonedx.Component) bool { return order(a, b) == 0 })

	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: about.Created.Format(time.RFC3339), Component: &image}
	bom.Components = &all
	return bom
}

func programComponent(about About, p program) cyclonedx.Component {
	c := component(cyclonedx.ComponentTypeApplication, p.built.Path, about.Version, "")
	c.BOMRef = p.built.Path + " " + p.platform.String()
	c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: p.sum}}
	c.Licenses = licences(licence)
	c.Properties = &[]cyclonedx.Property{
		{Name: "platform", Value: p.platform.String()},
		{Name: "revision", Value: about.Revision},
	}
	return c
}

// goComponent is the standard library, under the name by which its
// vulnerabilities are reported.
func goComponent(version string) cyclonedx.Component {
	version = strings.TrimPrefix(version, "go")
	c := component(cyclonedx.ComponentTypeLibrary, "stdlib", version, "pkg:golang/stdlib@"+url.QueryEscape(version))
	c.Licenses = licences("BSD-3-Clause")
	return c
}

// moduleComponent describes what was really linked: the replacement, where
// go.mod replaces a module. A folder that takes a module's place has neither
// version nor checksum; the image's revision says what it was.
func moduleComponent(module *debug.Module) cyclonedx.Component {
	properties := []cyclonedx.Property{}
	if replacement := module.Replace; replacement != nil {
		if replacement.Sum == "" {
			properties = append(properties, cyclonedx.Property{Name: "go:folder", Value: replacement.Path})
			module = &debug.Module{Path: module.Path}
		} else {
			properties = append(properties, cyclonedx.Property{Name: "go:replaces", Value: module.Path + "@" + module.Version})
			module = replacement
		}
	}
	// Not a hash of the component: that would be of a file, and this is Go's
	// own, of a list of files.
	if module.Sum != "" {
		properties = append(properties, cyclonedx.Property{Name: "go:sum", Value: module.Sum})
	}
	// The specification of these addresses wants small letters.
	address := "pkg:golang/" + strings.ToLower(module.Path)
	if module.Version != "" {
		address += "@" + url.QueryEscape(module.Version)
	}
	c := component(cyclonedx.ComponentTypeLibrary, module.Path, module.Version, address)
	c.Properties = &properties
	return c
}

func component(kind cyclonedx.ComponentType, name, version, address string) cyclonedx.Component {
	return cyclonedx.Component{BOMRef: address, Type: kind, Name: name, Version: version, PackageURL: address}
}

func licences(id string) *cyclonedx.Licenses {
	return &cyclonedx.Licenses{{License: &cyclonedx.License{ID: id}}}
}

// writeSBOM writes the list as CycloneDX 1.6, which scanners know.
func writeSBOM(path string, bom *cyclonedx.BOM) error {
	return replaceFile(path, func(file io.Writer) error {
		encoder := cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true)
		if err := encoder.EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
			return fmt.Errorf("encoding it: %w", err)
		}
		return nil
	})
}
