package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// untar unpacks the files of a compressed archive. Nothing gets out of the folder.
func untar(archive []byte, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	content, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	for entries := tar.NewReader(content); ; {
		entry, err := entries.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case entry.Typeflag != tar.TypeReg:
			continue
		}
		if err := root.MkdirAll(filepath.Dir(entry.Name), 0o755); err != nil {
			return err
		}
		file, err := root.OpenFile(entry.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|entry.FileInfo().Mode().Perm())
		if err != nil {
			return err
		}
		_, err = io.Copy(file, entries)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
}
