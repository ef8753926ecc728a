// Package imagetest makes images and archives for tests.
package imagetest

import (
	"archive/tar"
	"bytes"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Of makes an image of the files in a folder.
func Of(folder string, config v1.Config) (v1.Image, error) {
	files, err := tarOf(folder)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	return mutate.Config(image, config)
}

// WriteOCI writes an OCI archive of an image, with its name, to path.
func WriteOCI(path, name string, image v1.Image) error {
	dir, err := os.MkdirTemp("", "layout-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	named := v1.Descriptor{Annotations: map[string]string{"io.containerd.image.name": name}}
	if _, err := layout.Write(dir, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image, Descriptor: named})); err != nil {
		return err
	}
	archive, err := tarOf(dir)
	if err != nil {
		return err
	}
	return os.WriteFile(path, archive, 0o600)
}

func tarOf(folder string) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	if err := archive.AddFS(os.DirFS(folder)); err != nil {
		return nil, err
	}
	return out.Bytes(), archive.Close()
}
