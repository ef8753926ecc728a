package image

import (
	"archive/tar"
	"errors"
	"fmt"
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

// annotations say what the image in the archive is called, in the two ways that
// tools look for. A name without a registry is Docker Hub's: nodes keep it
// under its long name, and find it by the short one.
func (a About) annotations() (map[string]string, error) {
	long, err := reference.ParseNormalizedNamed(a.Name + ":" + a.Version)
	if err != nil {
		return nil, fmt.Errorf("the image's name %s:%s: %w", a.Name, a.Version, err)
	}
	return map[string]string{
		"io.containerd.image.name":          long.String(),
		"org.opencontainers.image.ref.name": a.Version,
	}, nil
}

// indexOf makes the archive's index, and returns the digest of what the name
// stands for: the image, or a list of images when there are several platforms.
func indexOf(about About, images []v1.Image, on []v1.Platform) (v1.ImageIndex, v1.Hash, error) {
	var entries []mutate.IndexAddendum
	for i, image := range images {
		entries = append(entries, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &on[i]}})
	}
	if len(entries) > 1 {
		entries = []mutate.IndexAddendum{{Add: mutate.AppendManifests(empty.Index, entries...)}}
	}
	var err error
	if entries[0].Annotations, err = about.annotations(); err != nil {
		return nil, v1.Hash{}, err
	}
	digest, err := entries[0].Add.Digest()
	return mutate.AppendManifests(empty.Index, entries...), digest, err
}

// writeArchive writes an OCI layout as one tar file.
func writeArchive(path string, index v1.ImageIndex) error {
	dir, err := os.MkdirTemp("", "layout-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := layout.Write(dir, index); err != nil {
		return fmt.Errorf("writing the layout: %w", err)
	}
	return replaceFile(path, func(file io.Writer) error {
		return tarOf(file, os.DirFS(dir))
	})
}

// tarOf packs files. WalkDir goes by name, and of what the file system knows
// about a file only the name, the kind and the size are written.
func tarOf(out io.Writer, files fs.FS) error {
	archive := tar.NewWriter(out)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
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
	return errors.Join(err, archive.Close())
}

// replaceFile writes a file beside its place and moves it there when it is
// whole, so that an interrupted build leaves the old one.
func replaceFile(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".unfinished-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // it is not there any more if all went well
	if err := errors.Join(write(file), file.Chmod(0o644), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
