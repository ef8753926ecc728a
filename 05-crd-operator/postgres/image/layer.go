package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// changed is when all files were changed, whenever that was.
var changed = time.Unix(0, 0).UTC()

// layer makes a layer of files. All belong to root, so that PostgreSQL cannot change itself,
// unless they say otherwise. It is not compressed: it is made again each time the agent
// changes, and unpacked on the same machine.
func layer(all files) (v1.Layer, error) {
	var content bytes.Buffer
	archive := tar.NewWriter(&content)
	if err := errors.Join(writeAll(archive, all), archive.Close()); err != nil {
		return nil, err
	}
	return static.NewLayer(content.Bytes(), types.OCIUncompressedLayer), nil
}

func writeAll(archive *tar.Writer, all files) error {
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if err := write(archive, path, all[path]); err != nil {
			return fmt.Errorf("packing %s: %w", path, err)
		}
	}
	return nil
}

func write(archive *tar.Writer, path string, f file) error {
	content := []byte(f.text)
	if f.source != "" {
		var err error
		if content, err = os.ReadFile(f.source); err != nil {
			return err
		}
	}
	header := &tar.Header{
		Name: strings.TrimPrefix(path, "/"), Typeflag: tar.TypeReg, Size: int64(len(content)),
		Mode: int64(f.mode.Perm()), Uid: f.user, Gid: f.user, ModTime: changed, Format: tar.FormatPAX,
	}
	switch {
	case f.mode.IsDir():
		header.Typeflag = tar.TypeDir
	case f.link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, f.link
	}
	if f.mode&fs.ModeSticky != 0 {
		header.Mode |= 0o1000
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}
