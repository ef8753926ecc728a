package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/atomicfile"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestWriteReplacesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	for _, content := range []string{"first", "second, which is longer", ""} {
		require.NoError(t, atomicfile.Write(path, []byte(content)))
		assert.Equal(t, content, read(t, path))
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	assert.Equal(t, []string{"key"}, names(t, dir))
}

func TestOfManyWritersOneIsTheLast(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "record")
	var all sync.WaitGroup
	for _, letter := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			for range 20 {
				assert.NoError(t, atomicfile.Write(path, []byte(strings.Repeat(letter, 10000))))
			}
		})
	}
	all.Wait()
	content := read(t, path)
	assert.Equal(t, strings.Repeat(content[:1], 10000), content)
	assert.Equal(t, []string{"record"}, names(t, dir))
}

func TestOnAFullDiskTheOldContentStays(t *testing.T) {
	testenv.OnFullDisk(t, func(fill func()) {
		dir := t.TempDir()
		path := filepath.Join(dir, "record")
		require.NoError(t, atomicfile.Write(path, []byte("old")))
		fill()
		err := atomicfile.Write(path, []byte("new"))
		require.EqualError(t, err, "writing "+path+": file too large: the disk, or your share of it, is full (free some space, then try again)")
		assert.Equal(t, "old", read(t, path))
		assert.Equal(t, []string{"record"}, names(t, dir))
	})
}

func TestABrokenFileIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	broken := &atomicfile.BrokenError{Path: path, Err: errors.New("no end")}
	require.EqualError(t, broken, "reading "+path+", which is empty, cut off or overwritten: no end")
	for _, content := range []string{"first", "second"} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		sentence, err := broken.SetAside("it was yours")
		require.NoError(t, err)
		assert.Equal(t, path+" is empty, cut off or overwritten; it is now record.broken: it was yours", sentence)
		assert.NoFileExists(t, path)
		assert.Equal(t, content, read(t, atomicfile.Aside(path)))
	}
	_, err := broken.SetAside("it was yours")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
