package image

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/stretchr/testify/require"
)

// here is the platform on which these tests can run what they make.
const here = runtime.GOOS + "/" + runtime.GOARCH

// copyModule copies the small stand-in for this module to a clone of its own.
func copyModule(t *testing.T) (folder string) {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "a clone")
	require.NoError(t, os.CopyFS(clone, os.DirFS("testdata")))
	return filepath.Join(clone, "06-shipping")
}

// makeImage builds the stand-in in a folder, and returns the archive and what is in it.
func makeImage(t *testing.T, folder string, platforms ...string) (archive string, index v1.ImageIndex) {
	t.Helper()
	archive = filepath.Join(t.TempDir(), "an archive.tar")
	here, err := os.Getwd()
	require.NoError(t, err)
	t.Chdir(folder)
	require.NoError(t, Build(t.Context(), optionsOf(archive, platforms...), io.Discard))
	t.Chdir(here)
	return archive, readArchive(t, archive)
}

func optionsOf(archive string, platforms ...string) Options {
	return Options{Version: "v1.2.3", Revision: "abc123", Created: time.Unix(1700000000, 0).UTC(), Platforms: platforms, Output: archive}
}

// readArchive returns the index in an archive.
func readArchive(t *testing.T, path string) v1.ImageIndex {
	t.Helper()
	dir := t.TempDir()
	printed(t, "tar", "-xf", path, "-C", dir)
	index, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	return index
}

// only returns the only entry of an index.
func only(t *testing.T, index v1.ImageIndex) v1.Descriptor {
	t.Helper()
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	return manifest.Manifests[0]
}

// onlyImage returns the only image of an index.
func onlyImage(t *testing.T, index v1.ImageIndex) (v1.Image, *v1.ConfigFile) {
	t.Helper()
	image, err := index.Image(only(t, index).Digest)
	require.NoError(t, err)
	config, err := image.ConfigFile()
	require.NoError(t, err)
	return image, config
}

// programOf writes what is in an image to a file: the program, and no shell beside it.
func programOf(t *testing.T, image v1.Image) (header *tar.Header, path string) {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	content, err := layers[0].Uncompressed()
	require.NoError(t, err)
	defer content.Close()
	archive := tar.NewReader(content)
	header, err = archive.Next()
	require.NoError(t, err)
	program, err := io.ReadAll(archive)
	require.NoError(t, err)
	_, err = archive.Next()
	require.ErrorIs(t, err, io.EOF)
	path = filepath.Join(t.TempDir(), "manager")
	require.NoError(t, os.WriteFile(path, program, 0o700))
	return header, path
}

// printed is what a program prints.
func printed(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", program, out)
	return strings.TrimSpace(string(out))
}

// sameContent compares files too large to be printed.
func sameContent(t *testing.T, one, other string) {
	t.Helper()
	if !bytes.Equal([]byte(read(t, one)), []byte(read(t, other))) {
		t.Errorf("%s and %s differ", one, other)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}
