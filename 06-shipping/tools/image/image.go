package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// entrypoint is the only file of the image.
	entrypoint = "/manager"
	// user is nobody in particular. It is a number, because the image has no
	// list of names, and because a node must see that it is not root.
	user = "65532:65532"
	// licence is the repository's.
	licence = "Apache-2.0"
)

// About is what an image says about itself.
type About struct {
	Name     string
	Version  string // also its tag
	Revision string // the commit
	Created  time.Time
}

func (a About) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    a.Name,
		"org.opencontainers.image.version":  a.Version,
		"org.opencontainers.image.revision": a.Revision,
		"org.opencontainers.image.licenses": licence,
	}
}

// newImage makes an image of a program.
func newImage(about About, platform v1.Platform, program string) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return layerOf(program, about.Created)
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("making the layer: %w", err)
	}
	created := v1.Time{Time: about.Created}
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
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = platform.OS, platform.Architecture, created
	config.Config = v1.Config{Entrypoint: []string{entrypoint}, User: user, Labels: about.labels()}
	return mutate.ConfigFile(image, config)
}

// layerOf is a tar file with the program in it: root's, so that the program
// cannot change itself, and for everybody to run.
func layerOf(program string, created time.Time) (io.ReadCloser, error) {
	file, err := os.Open(program)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	reader, writer := io.Pipe()
	go func() {
		defer file.Close()
		layer := tar.NewWriter(writer)
		header := &tar.Header{Name: entrypoint[1:], Mode: 0o555, Size: info.Size(), ModTime: created, Format: tar.FormatUSTAR}
		err := layer.WriteHeader(header)
		if err == nil {
			_, err = io.Copy(layer, file)
		}
		writer.CloseWithError(errors.Join(err, layer.Close()))
	}()
	return reader, nil
}
