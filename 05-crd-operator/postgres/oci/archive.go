package oci

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Archive is an archive that is being made.
type Archive struct {
	Work string // a folder for what goes into the images, until Close
	path string
}

// Create begins an archive, and makes the folder that it's to be in. The file is there only once it's whole, so an
// interrupted build leaves the old one.
func Create(path string) (*Archive, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() { // now, not after minutes of compiling
		return nil, fmt.Errorf("%s is a folder; name the archive in it", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of the archive: %w; choose another for it", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(path), ".unfinished-")
	return &Archive{Work: work, path: path}, err
}

// Close removes all but the archive.
func (a *Archive) Close() error { return os.RemoveAll(a.Work) }

// Write writes the images of one name, such as manager:v1, one for each platform. It returns the size of the archive, and
// the digest of what the name stands for: the image, or a list of images.
func (a *Archive) Write(name string, images ...Image) (digest v1.Hash, size int64, err error) {
	content, err := named(name, images)
	if err != nil {
		return digest, 0, err
	}
	if digest, err = content.Add.Digest(); err != nil {
		return digest, 0, err
	}
	folder := filepath.Join(a.Work, "layout")
	if _, err := layout.Write(folder, mutate.AppendManifests(empty.Index, content)); err != nil {
		return digest, 0, fmt.Errorf("writing the layout: %w", err)
	}
	whole := filepath.Join(a.Work, "archive.tar")
	if size, err = pack(whole, folder); err != nil {
		return digest, 0, err
	}
	return digest, size, os.Rename(whole, a.path)
}

// named is the entry of the images in the archive's list, with their name.
func named(name string, images []Image) (entry mutate.IndexAddendum, err error) {
	// Tools look for the name in two ways. One without a registry is Docker Hub's: nodes keep it under its long name,
	// and find it by the short one.
	long, err := reference.ParseDockerRef(name)
	if err != nil {
		return entry, err
	}
	var entries []mutate.IndexAddendum
	for _, i := range images {
		if entry, err = i.build(); err != nil {
			return entry, fmt.Errorf("making the image for %s: %w", i.Platform, err)
		}
		entries = append(entries, entry)
	}
	if len(entries) > 1 {
		entry = mutate.IndexAddendum{Add: mutate.AppendManifests(empty.Index, entries...)}
	}
	entry.Annotations = map[string]string{
		"io.containerd.image.name": long.String(), "org.opencontainers.image.ref.name": long.(reference.Tagged).Tag(),
	}
	return entry, nil
}

// pack writes the files of a folder as a tar file.
func pack(path, folder string) (size int64, err error) {
	files := map[string]File{}
	if err := filepath.WalkDir(folder, func(source string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, source)
		files[filepath.ToSlash(name)] = File{Source: source, Mode: 0o644}
		return err
	}); err != nil {
		return 0, err
	}
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	if err = writeTar(file, files, time.Time{}); err == nil {
		size, err = file.Seek(0, io.SeekCurrent)
	}
	return size, errors.Join(err, file.Close())
}
