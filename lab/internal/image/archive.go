package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/go-containerregistry/pkg/v1/layout"
)

var (
	// errNotAnArchive is for files that are something else.
	errNotAnArchive = errors.New("this is not an image archive (make one with: docker save -o IMAGE.tar IMAGE)")
	// errCutOff is for archives that end too early: of a copy that was interrupted, or of a full disk.
	errCutOff = errors.New("the archive is cut off (save or copy it again)")
)

// open reads an archive. scratch is a folder for its files.
func open(ctx context.Context, path, scratch string, q *quota) ([]entry, error) {
	if err := unpackArchive(ctx, path, scratch, q); err != nil {
		return nil, err
	}
	files, err := os.OpenRoot(scratch) // no link in the archive leads out of it
	if err != nil {
		return nil, err
	}
	defer files.Close()
	if _, err := files.Stat("manifest.json"); err == nil { // docker writes both forms; this one has the names
		return openDocker(scratch)
	}
	if _, err := files.Stat("index.json"); err == nil {
		return openLayout(scratch)
	}
	return nil, errNotAnArchive
}

// unpackArchive writes the files of an archive to dir.
func unpackArchive(ctx context.Context, path, dir string, q *quota) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no such file")
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errNotAnArchive
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	content, err := uncompressed(interruptible{ctx, f})
	if err == nil {
		_, err = extract(content, dir, q)
	}
	_, refused := errors.AsType[refusal](err)
	switch {
	case err == nil || refused || ctx.Err() != nil:
		return err
	case isEmpty(dir):
		return errNotAnArchive
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCutOff
	default:
		return fmt.Errorf("unpacking the archive: %w", err)
	}
}

// interruptible is a reader that fails once ctx has ended.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// openLayout reads an OCI archive, which is the tar of an OCI layout.
func openLayout(dir string) (entries []entry, err error) {
	if err := checkJSON(dir, "index.json"); err != nil {
		return nil, err
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, errNotAnArchive
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, errNotAnArchive
	}
	for _, descriptor := range manifest.Manifests {
		one, err := look(dir, index, descriptor)
		if err != nil {
			return nil, incomplete(err)
		}
		entries = append(entries, one)
	}
	return entries, nil
}

// incomplete says what it means that a file is not in the archive.
func incomplete(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the archive lacks a part of its image (save it again, whole): %w", err)
	}
	return err
}

func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}
