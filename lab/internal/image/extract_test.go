package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExtractStaysInside(t *testing.T) {
	outside := t.TempDir()
	dir := filepath.Join(t.TempDir(), "rootfs")
	require.NoError(t, os.Mkdir(dir, 0o755))
	link := func(name, target string) file {
		return file{tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}, ""}
	}
	regular := func(name string) file { return file{tar.Header{Name: name, Typeflag: tar.TypeReg}, "x"} }
	_, err := extract(bytes.NewReader(tarOf(t,
		regular("../../climb"),
		regular("/absolute"),
		link("abs", outside), regular("abs/file"),
		link("up", "../../../../../../../.."+outside), regular("up/file2"),
		link("replaced", filepath.Join(outside, "target")), regular("replaced"),
		link("usr/bin", "/elsewhere"), regular("usr/bin/tool"),
		file{tar.Header{Name: "device", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}, ""},
		file{tar.Header{Name: "fifo", Typeflag: tar.TypeFifo}, ""},
		file{tar.Header{Name: "sudo", Typeflag: tar.TypeReg, Mode: 0o4755}, "x"},
	)), dir, NewStore(dir).quota())
	require.NoError(t, err)

	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries)
	for _, path := range []string{"climb", "absolute", "replaced", "elsewhere/tool", "sudo", filepath.Join(outside, "file"), filepath.Join(outside, "file2")} {
		assert.FileExists(t, filepath.Join(dir, path))
	}
	assert.NoFileExists(t, filepath.Join(dir, "device"))
	assert.NoFileExists(t, filepath.Join(dir, "fifo"))
	info, err := os.Stat(filepath.Join(dir, "sudo"))
	require.NoError(t, err)
	assert.Zero(t, info.Mode()&fs.ModeSetuid)
}

func TestExtractRefusesHardLinksToTheOutside(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("s"), 0o600))
	for _, target := range []string{secret, "../../../../../../../../../../.." + secret} {
		_, err := extract(bytes.NewReader(tarOf(t, file{tar.Header{Name: "link", Typeflag: tar.TypeLink, Linkname: target}, ""})), dir, NewStore(dir).quota())
		require.Error(t, err)
	}
}

func TestCopy(t *testing.T) {
	s := newStore(t)
	_, err := s.Load(t.Context(), docker(t, build(t, here,
		file{tar.Header{Name: "dir", Typeflag: tar.TypeDir, Mode: 0o500}, ""},
		file{tar.Header{Name: "dir/private", Typeflag: tar.TypeReg, Mode: 0o600}, "p"},
		file{tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/dir/private"}, ""},
		file{tar.Header{Name: "hard", Typeflag: tar.TypeLink, Linkname: "dir/private"}, ""},
	), "foo"))
	require.NoError(t, err)
	image, err := s.Find("foo")
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, image.CopyTo(to))

	target, err := os.Readlink(filepath.Join(to, "link"))
	require.NoError(t, err)
	assert.Equal(t, "/dir/private", target)
	info, err := os.Stat(filepath.Join(to, "dir", "private"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	require.NoError(t, os.WriteFile(filepath.Join(to, "hard"), []byte("changed"), 0o600))
	assert.Equal(t, "p", content(t, image, "hard"), "a container changes its own copy only")
}

// Whoever a container runs as, it can enter the folders that no entry of the archive names.
func TestTheUmaskOfWhoLoadsAnImageIsNotThatOfItsFiles(t *testing.T) {
	archive := docker(t, build(t, here, file{content: "hi"}.named("opt/app/hello")), "foo:v1")
	s := newStore(t)
	before := syscall.Umask(0o077)
	_, err := s.Load(t.Context(), archive)
	image, findErr := s.Find("foo:v1")
	copied := filepath.Join(t.TempDir(), "copy")
	copyErr := image.CopyTo(copied)
	builtin := filepath.Join(t.TempDir(), "builtin")
	builtinErr := Image{Builtin: true}.CopyTo(builtin)
	syscall.Umask(before)
	require.NoError(t, errors.Join(err, findErr, copyErr, builtinErr))
	for _, path := range []string{builtin, copied, filepath.Join(copied, "opt"), filepath.Join(copied, "opt/app"), filepath.Join(copied, "opt/app/hello")} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o755), info.Mode().Perm(), path)
	}
}
