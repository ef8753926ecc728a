package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// storing is how a layer is stored in an archive. What it returns is nil if it is not.
type storing func(t *testing.T, layer []byte) []byte

func plain(_ *testing.T, layer []byte) []byte   { return layer }
func missing(*testing.T, []byte) []byte         { return nil }
func damaged(_ *testing.T, layer []byte) []byte { return layer[:len(layer)/2] }

func gzipIt(t *testing.T, layer []byte) []byte {
	var out bytes.Buffer
	return compressed(t, &out, gzip.NewWriter(&out), layer)
}

func zstdIt(t *testing.T, layer []byte) []byte {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	require.NoError(t, err)
	return compressed(t, &out, w, layer)
}

func compressed(t *testing.T, out *bytes.Buffer, w io.WriteCloser, data []byte) []byte {
	t.Helper()
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// part is an image of a docker archive.
type part struct {
	image  v1.Image
	names  []string
	layers []storing
}

func rawDocker(t *testing.T, image v1.Image, names []string, layers ...storing) string {
	t.Helper()
	return dockerOf(t, part{image, names, layers})
}

// dockerOf writes a docker archive of several images, as docker save writes it.
func dockerOf(t *testing.T, parts ...part) string {
	t.Helper()
	var files []file
	add := func(name string, data []byte) { files = append(files, file{content: string(data)}.named(name)) }
	var manifest tarball.Manifest
	for i, p := range parts {
		config, err := p.image.RawConfigFile()
		require.NoError(t, err)
		descriptor := tarball.Descriptor{Config: fmt.Sprintf("%d.json", i), RepoTags: p.names}
		add(descriptor.Config, config)
		layers, err := p.image.Layers()
		require.NoError(t, err)
		for j, layer := range layers {
			content, err := layer.Uncompressed()
			require.NoError(t, err)
			data, err := io.ReadAll(content)
			require.NoError(t, err)
			name := fmt.Sprintf("%d-%d", i, j)
			descriptor.Layers = append(descriptor.Layers, name+"/layer.tar")
			if stored := p.layers[j](t, data); stored != nil {
				add(name+"/data", stored)
				files = append(files, file{Header: tar.Header{Name: name + "/layer.tar", Typeflag: tar.TypeSymlink, Linkname: "data"}}) // as docker did
			}
		}
		manifest = append(manifest, descriptor)
	}
	data, err := json.Marshal(manifest)
	require.NoError(t, err)
	add("manifest.json", data)
	return writeFile(t, tarOf(t, files...))
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}
