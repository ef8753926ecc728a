package image

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// writeArchive writes an OCI layout as one tar file, and returns its size, and the digest of what the name stands for:
// the image, or a list of images when there are several platforms.
func writeArchive(o Options, images []v1.Image) (digest v1.Hash, size int64, err error) {
	var entries []mutate.IndexAddendum
	for i, image := range images {
		on, err := v1.ParsePlatform(o.Platforms[i])
		if err != nil {
			return digest, 0, err
		}
		entries = append(entries, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: on}})
	}
	if len(entries) > 1 {
		entries = []mutate.IndexAddendum{{Add: mutate.AppendManifests(empty.Index, entries...)}}
	}
	// Tools look for the name in two ways. One without a registry is Docker Hub's: nodes keep it under its long name,
	// and find it by the short one.
	long, err := reference.ParseNormalizedNamed(name + ":" + o.Version)
	if err != nil {
		return digest, 0, err
	}
	entries[0].Annotations = map[string]string{
		"io.containerd.image.name": long.String(), "org.opencontainers.image.ref.name": o.Version,
	}
	if digest, err = entries[0].Add.Digest(); err != nil {
		return digest, 0, err
	}
	work, err := os.MkdirTemp(filepath.Dir(o.Output), ".unfinished-")
	if err != nil {
		return digest, 0, err
	}
	defer os.RemoveAll(work)
	files := filepath.Join(work, "layout")
	if _, err := layout.Write(files, mutate.AppendManifests(empty.Index, entries...)); err != nil {
		return digest, 0, err
	}
	// What is moved to its place is whole, so an interrupted build leaves the old one.
	whole := filepath.Join(work, "archive.tar")
	if size, err = writeTar(whole, os.DirFS(files)); err != nil {
		return digest, 0, err
	}
	return digest, size, os.Rename(whole, o.Output)
}

// writeTar packs files. WalkDir goes by name, and of what the file system knows about a file only the name and the
// content are written.
func writeTar(path string, files fs.FS) (size int64, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	archive := tar.NewWriter(file)
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
	if err = errors.Join(err, archive.Close()); err == nil {
		size, err = file.Seek(0, io.SeekCurrent)
	}
	return size, errors.Join(err, file.Close())
}
