package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// errNotAnArchive is for files that are something else.
var errNotAnArchive = errors.New("this is not an image archive (make one with: docker save -o IMAGE.tar IMAGE)")

// errNoName is for archives that do not say what the image is called.
var errNoName = errors.New("the archive does not name its image (save it by its name, not by its ID: docker save -o IMAGE.tar NAME:TAG)")

// open reads an archive. scratch is a directory for its unpacked layout.
func open(path, scratch string) (found, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found{}, errors.New("there is no such file")
	}
	if err != nil {
		return found{}, err
	}
	if !info.Mode().IsRegular() {
		return found{}, errNotAnArchive
	}
	opener := func() (io.ReadCloser, error) { return reader(path) }
	files, err := list(opener)
	switch {
	case err != nil:
		return found{}, errNotAnArchive
	case files["manifest.json"]: // docker writes both forms; this one has the names
		return openDocker(opener)
	case files["index.json"]:
		return openLayout(opener, scratch)
	default:
		return found{}, errNotAnArchive
	}
}

// reader opens a tar file that may be compressed with gzip.
func reader(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(f)
	content := io.Reader(buffered)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if content, err = gzip.NewReader(buffered); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return struct {
		io.Reader
		io.Closer
	}{content, f}, nil
}

// list returns the names of the files in an archive.
func list(opener tarball.Opener) (map[string]bool, error) {
	r, err := opener()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	files := map[string]bool{}
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		files[trimDot(header.Name)] = true
	}
}

// openDocker reads what docker save writes.
func openDocker(opener tarball.Opener) (found, error) {
	manifest, err := tarball.LoadManifest(opener)
	if err != nil || len(manifest) == 0 {
		return found{}, errNotAnArchive
	}
	if len(manifest) > 1 {
		return found{}, fmt.Errorf("the archive holds %d images (save one image per archive)", len(manifest))
	}
	names := manifest[0].RepoTags
	if len(names) == 0 {
		return found{}, errNoName
	}
	tag, err := name.NewTag(names[0])
	if err != nil {
		return found{}, err
	}
	image, err := tarball.Image(opener, &tag)
	return found{image: image, names: names}, err
}

// openLayout reads an OCI archive, which is the tar of an OCI layout.
func openLayout(opener tarball.Opener, scratch string) (found, error) {
	r, err := opener()
	if err != nil {
		return found{}, err
	}
	defer r.Close()
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return found{}, err
	}
	if _, err := extract(r, scratch); err != nil {
		return found{}, fmt.Errorf("unpacking the archive: %w", err)
	}
	index, err := layout.ImageIndexFromPath(scratch)
	if err != nil {
		return found{}, errNotAnArchive
	}
	one, err := search(index, nil)
	if err != nil {
		return found{}, err
	}
	if one.image == nil {
		return found{}, fmt.Errorf("the archive has no image for %s/%s, which this machine is; it has %s (build or save it for this platform)",
			runtime.GOOS, runtime.GOARCH, one.others())
	}
	if len(one.names) == 0 {
		return found{}, errNoName
	}
	return one, nil
}
