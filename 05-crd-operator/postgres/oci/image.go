package oci

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Image is what the image for one platform is made of.
type Image struct {
	Platform string    // such as linux/amd64
	Created  time.Time // what all of it says of its age
	Config   v1.Config // what a node has to know to run it
	Layers   []Layer
}

// Layer is a set of files, by their path in the image.
type Layer struct {
	Files        map[string]File
	CreatedBy    string // for people: what made it
	Uncompressed bool   // for a layer that's made often, and unpacked on the same machine
}

// File is what an image has at a path: the content of a file of this machine, a symbolic link, text, or a folder. It
// belongs to root, so that the program can't change itself, unless it says otherwise.
type File struct {
	Source string // a path of this machine; links are followed
	Link   string
	Text   string // if there is neither
	Mode   fs.FileMode
	User   int
}

// build makes the image, as an entry of a list.
func (i Image) build() (entry mutate.IndexAddendum, err error) {
	on, err := v1.ParsePlatform(i.Platform)
	if err != nil {
		return entry, err
	}
	created := v1.Time{Time: i.Created}
	image, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{
		OS: on.OS, Architecture: on.Architecture, Created: created, Config: i.Config, RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return entry, err
	}
	var layers []mutate.Addendum
	for _, l := range i.Layers {
		layer, err := l.build(i.Created)
		if err != nil {
			return entry, err
		}
		layers = append(layers, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: l.CreatedBy}})
	}
	image, err = mutate.Append(mutate.ConfigMediaType(image, types.OCIConfigJSON), layers...)
	return mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: on}}, err
}

func (l Layer) build(created time.Time) (v1.Layer, error) {
	var content bytes.Buffer
	if err := writeTar(&content, l.Files, created); err != nil {
		return nil, err
	}
	if l.Uncompressed {
		return static.NewLayer(content.Bytes(), types.OCIUncompressedLayer), nil
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
}

// writeTar packs files by their names. Of what this machine knows about a file, it writes the content, and nothing else.
func writeTar(out io.Writer, files map[string]File, changed time.Time) error {
	archive := tar.NewWriter(out)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := files[path].write(archive, path, changed); err != nil {
			return fmt.Errorf("packing %s: %w", path, err)
		}
	}
	return archive.Close()
}

func (f File) write(archive *tar.Writer, path string, changed time.Time) error {
	content := []byte(f.Text)
	if f.Source != "" {
		var err error
		if content, err = os.ReadFile(f.Source); err != nil {
			return err
		}
	}
	header := &tar.Header{
		Name: strings.TrimPrefix(path, "/"), Typeflag: tar.TypeReg, Size: int64(len(content)),
		Mode: int64(f.Mode.Perm()), Uid: f.User, Gid: f.User, ModTime: changed, Format: tar.FormatPAX,
	}
	switch {
	case f.Mode.IsDir():
		header.Typeflag = tar.TypeDir
	case f.Link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, f.Link
	}
	if f.Mode&fs.ModeSticky != 0 {
		header.Mode |= 0o1000
	}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}
