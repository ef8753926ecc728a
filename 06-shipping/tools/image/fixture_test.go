package image

import (
	"archive/tar"
	"bytes"
	"errors"
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
	require.NoError(t, build(t.Context(), optionsOf(archive, platforms...), io.Discard))
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
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	for _, entry := range readTar(t, file) {
		place := filepath.Join(dir, entry.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o700))
		require.NoError(t, os.WriteFile(place, entry.content, 0o600))
	}
	index, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	return index
}

// entry is a file in a tar file.
type entry struct {
	*tar.Header
	content []byte
}

func readTar(t *testing.T, in io.Reader) (entries []entry) {
	t.Helper()
	for archive := tar.NewReader(in); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		entries = append(entries, entry{header, content})
	}
}

// only returns the only entry of an index.
func only(t *testing.T, index v1.ImageIndex) v1.Descriptor {
	t.Helper()
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	return manifest.Manifests[0]
}

// filesOf returns what is in an image.
func filesOf(t *testing.T, image v1.Image) []entry {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	content, err := layers[0].Uncompressed()
	require.NoError(t, err)
	defer content.Close()
	return readTar(t, content)
}

// programOf writes the program of an image to a file.
func programOf(t *testing.T, image v1.Image) string {
	t.Helper()
	files := filesOf(t, image)
	require.Len(t, files, 1)
	path := filepath.Join(t.TempDir(), "manager")
	require.NoError(t, os.WriteFile(path, files[0].content, 0o700))
	return path
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
