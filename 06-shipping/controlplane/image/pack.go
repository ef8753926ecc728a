package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// passwd names the users that programs of Kubernetes run as.
const passwd = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"

// pack writes a docker archive of an image of one layer, which holds the program, and
// moves it to its place when all is there. As in upstream's images, the user is root.
func pack(program string, tag name.Tag, archive string) error {
	layerFile := program + ".layer"
	entrypoint := path.Join("/usr/local/bin", filepath.Base(program))
	if err := writeLayer(layerFile, program, entrypoint); err != nil {
		return err
	}
	// The archive stays on this machine: to compress it takes longer than to write it.
	layer, err := tarball.LayerFromFile(layerFile, tarball.WithCompressionLevel(gzip.NoCompression))
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = runtime.GOOS, runtime.GOARCH
	config.Config = v1.Config{
		Entrypoint: []string{entrypoint},
		Env:        []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return err
	}
	unfinished := archive + ".unfinished"
	if err := tarball.WriteToFile(unfinished, tag, image); err != nil {
		return errors.Join(err, os.Remove(unfinished))
	}
	return os.Rename(unfinished, archive)
}

// writeLayer writes the files of the image as a tar file. They have no times, so the same
// program makes the same image.
func writeLayer(file, program, path string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := os.Open(program)
	if err != nil {
		return err
	}
	defer content.Close()
	info, err := content.Stat()
	if err != nil {
		return err
	}
	archive := tar.NewWriter(f)
	for _, entry := range []struct {
		tar.Header
		content io.Reader
	}{
		{tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil},
		{tar.Header{Name: "etc/passwd", Mode: 0o644, Size: int64(len(passwd))}, strings.NewReader(passwd)},
		{tar.Header{Name: strings.TrimPrefix(path, "/"), Mode: 0o755, Size: info.Size()}, content},
	} {
		if err := archive.WriteHeader(&entry.Header); err != nil {
			return err
		}
		if entry.content == nil {
			continue
		}
		if _, err := io.Copy(archive, entry.content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), f.Close())
}
