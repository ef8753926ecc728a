package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// name is what pods call the image.
	name = "cnat-manager"
	// entrypoint is the only file of the image.
	entrypoint = "/manager"
	// user is nobody in particular. It is a number, because the image has no list of names, and because a node must see
	// that it is not root.
	user = "65532:65532"
)

// newImage makes an image of a program.
func newImage(o Options, platform string, program []byte) (v1.Image, error) {
	content, err := layerOf(o, program)
	if err != nil {
		return nil, fmt.Errorf("making the layer: %w", err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("making the layer: %w", err)
	}
	created := v1.Time{Time: o.Created}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: created, CreatedBy: "COPY manager " + entrypoint},
	})
	if err != nil {
		return nil, fmt.Errorf("adding the layer: %w", err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the image's configuration: %w", err)
	}
	on, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = on.OS, on.Architecture, created
	config.Config = v1.Config{Entrypoint: []string{entrypoint}, User: user, Labels: map[string]string{
		"org.opencontainers.image.title":    name,
		"org.opencontainers.image.version":  o.Version,
		"org.opencontainers.image.revision": o.Revision,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}}
	return mutate.ConfigFile(image, config)
}

// layerOf is a tar file with the program in it: root's, so that the program cannot change itself, and for everybody to
// run.
func layerOf(o Options, program []byte) ([]byte, error) {
	var content bytes.Buffer
	layer := tar.NewWriter(&content)
	header := &tar.Header{Name: entrypoint[1:], Mode: 0o555, Size: int64(len(program)), ModTime: o.Created, Format: tar.FormatUSTAR}
	err := layer.WriteHeader(header)
	if err == nil {
		_, err = layer.Write(program)
	}
	return content.Bytes(), errors.Join(err, layer.Close())
}
