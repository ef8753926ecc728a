package image

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/require"
)

// file is an entry of a layer.
type file struct {
	tar.Header
	content string
}

// tarOf writes a tar file.
func tarOf(t *testing.T, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := f.Header
		h.Size = int64(len(f.content))
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		h.Uid, h.Gid = os.Getuid(), os.Getgid()
		require.NoError(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, f.content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func layerOf(t *testing.T, data []byte) v1.Layer {
	t.Helper()
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	require.NoError(t, err)
	return layer
}

// build makes an image of one layer.
func build(t *testing.T, platform v1.Platform, files ...file) v1.Image {
	t.Helper()
	image, err := mutate.AppendLayers(empty.Image, layerOf(t, tarOf(t, files...)))
	require.NoError(t, err)
	config, err := image.ConfigFile()
	require.NoError(t, err)
	config = config.DeepCopy()
	config.OS, config.Architecture = platform.OS, platform.Architecture
	config.Config = v1.Config{Entrypoint: []string{"/app"}, Cmd: []string{"serve"}, Env: []string{"A=b"}, WorkingDir: "/srv", User: "1000:2000", StopSignal: "SIGQUIT"}
	image, err = mutate.ConfigFile(image, config)
	require.NoError(t, err)
	return image
}

func hello(content string) file { return file{content: content}.named("hello") }

func (f file) named(name string) file {
	f.Header = tar.Header{Name: name, Typeflag: tar.TypeReg}
	return f
}

// docker writes a docker archive.
func docker(t *testing.T, image v1.Image, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "an image.tar")
	if len(names) == 0 { // as `docker save ID` does
		names = []string{"foo@sha256:" + strings.Repeat("0", 64)}
	}
	images := map[name.Reference]v1.Image{}
	for _, n := range names {
		ref, err := name.ParseReference(n)
		require.NoError(t, err)
		images[ref] = image
	}
	require.NoError(t, tarball.MultiRefWriteToFile(path, images))
	return path
}

// oci writes an OCI archive of images and indexes.
func oci(t *testing.T, all ...mutate.IndexAddendum) string {
	t.Helper()
	dir := t.TempDir()
	_, err := layout.Write(dir, mutate.AppendManifests(empty.Index, all...))
	require.NoError(t, err)
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	require.NoError(t, w.AddFS(os.DirFS(dir)))
	require.NoError(t, w.Close())
	return writeFile(t, out.Bytes())
}

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func addendum(image mutate.Appendable, platform *v1.Platform, annotations map[string]string) mutate.IndexAddendum {
	return mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform, Annotations: annotations}}
}
