package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// openDocker reads what docker save writes. Any number of images may be in it.
func openDocker(dir string) (entries []entry, err error) {
	var manifest tarball.Manifest
	data, err := readIn(dir, "manifest.json")
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(data, &manifest) != nil {
		return nil, errNotAnArchive
	}
	for _, descriptor := range manifest {
		one := entry{names: descriptor.RepoTags}
		image, err := newDockerImage(dir, descriptor)
		if err != nil {
			return nil, err
		}
		if err := one.add(image); err != nil {
			return nil, err
		}
		entries = append(entries, one)
	}
	return entries, nil
}

// dockerImage is an image of a docker archive. Any of its layers may be compressed, and others not.
// Package tarball would have them all be as the first one is.
type dockerImage struct {
	dir    string
	config []byte
	layers map[v1.Hash]string // their files
}

func newDockerImage(dir string, descriptor tarball.Descriptor) (v1.Image, error) {
	data, err := readIn(dir, descriptor.Config)
	if err != nil {
		return nil, incomplete(err)
	}
	image := dockerImage{dir: dir, config: data, layers: map[v1.Hash]string{}}
	config, err := partial.ConfigFile(image)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of the image: %w", err)
	}
	if want, have := len(config.RootFS.DiffIDs), len(descriptor.Layers); want != have {
		return nil, fmt.Errorf("the archive has %d layers of an image of %d (save it again, whole)", have, want)
	}
	for i, id := range config.RootFS.DiffIDs {
		image.layers[id] = descriptor.Layers[i]
	}
	return partial.UncompressedToImage(image)
}

func (i dockerImage) RawConfigFile() ([]byte, error)      { return i.config, nil }
func (i dockerImage) MediaType() (types.MediaType, error) { return types.DockerManifestSchema2, nil }
func (i dockerImage) LayerByDiffID(id v1.Hash) (partial.UncompressedLayer, error) {
	return dockerLayer{dir: i.dir, file: i.layers[id], id: id}, nil
}

type dockerLayer struct {
	dir, file string
	id        v1.Hash
}

func (l dockerLayer) DiffID() (v1.Hash, error)            { return l.id, nil }
func (l dockerLayer) MediaType() (types.MediaType, error) { return types.DockerLayer, nil }
func (l dockerLayer) Uncompressed() (io.ReadCloser, error) {
	f, err := os.OpenInRoot(l.dir, l.file)
	if err != nil {
		return nil, err
	}
	content, err := uncompressed(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{content, f}, nil
}

// readIn reads a file of an archive. A link in the archive may name it, and leads nowhere else.
func readIn(dir, name string) ([]byte, error) {
	if err := checkJSON(dir, name); err != nil {
		return nil, err
	}
	f, err := os.OpenInRoot(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
