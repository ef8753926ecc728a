package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// name is what pods call the image. Its tag is the version of PostgreSQL.
func (p PostgreSQL) name(v Version) string {
	if v == Minor {
		return "postgres-member:" + p.Version
	}
	return "postgres-member:" + strconv.Itoa(p.Major)
}

// newImage makes an image that runs the agent, which finds PostgreSQL's programs in its PATH.
func (p PostgreSQL) newImage(layers ...v1.Layer) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layers...)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = runtime.GOOS, runtime.GOARCH, v1.Time{Time: changed}
	config.Config = v1.Config{
		Entrypoint: []string{agentPath},
		Env:        []string{"PATH=" + p.in(p.Bin) + ":/usr/bin:/bin"},
		// Numbers, so that a node sees that it is not root.
		User:   fmt.Sprintf("%d:%d", userID, userID),
		Labels: map[string]string{"org.opencontainers.image.title": "postgres-member", "org.opencontainers.image.version": p.Version},
	}
	return mutate.ConfigFile(image, config)
}

// writeArchive writes an image with its name as an OCI layout in one tar file.
func writeArchive(path, name string, image v1.Image) error {
	long, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return err
	}
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
		Platform:    &v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH},
		Annotations: map[string]string{"io.containerd.image.name": long.String()},
	}})
	folder, err := os.MkdirTemp(filepath.Dir(path), "unfinished-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if _, err := layout.Write(filepath.Join(folder, "layout"), index); err != nil {
		return fmt.Errorf("writing the layout: %w", err)
	}
	// What is moved to its place is whole.
	whole := filepath.Join(folder, "image.tar")
	file, err := os.Create(whole)
	if err != nil {
		return err
	}
	if err := errors.Join(tarOf(file, filepath.Join(folder, "layout")), file.Close()); err != nil {
		return err
	}
	return os.Rename(whole, path)
}

// tarOf packs the files of a folder.
func tarOf(out io.Writer, folder string) error {
	all := files{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		all[name] = file{source: path, mode: 0o644}
		return err
	})
	if err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	return errors.Join(writeAll(archive, all), archive.Close())
}
