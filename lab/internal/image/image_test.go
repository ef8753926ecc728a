package image

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUser(t *testing.T) {
	for user, want := range map[string]struct {
		uid  int64
		name string
	}{
		"":          {0, ""},
		"0":         {0, ""},
		"1000":      {1000, ""},
		"1000:1000": {1000, ""},
		"web":       {0, "web"},
		"web:web":   {0, "web"},
	} {
		uid, name := Image{Config: v1.Config{User: user}}.User()
		assert.Equal(t, want.uid, uid, user)
		assert.Equal(t, want.name, name, user)
	}
}

func TestAccount(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, rootfsDir, "etc"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, rootfsDir, "etc", "passwd"),
		[]byte("root:x:0:0:root:/root:/bin/sh\nbroken\nweb:x:1000:2000::/:/bin/sh\n"), 0o600))
	image := Image{dir: dir}
	for user, want := range map[string][2]uint32{"web": {1000, 2000}, "1000": {1000, 2000}, "7": {7, 0}, "root": {0, 0}} {
		uid, gid, err := image.Account(user)
		require.NoError(t, err, user)
		assert.Equal(t, want, [2]uint32{uid, gid}, user)
	}
	_, _, err := image.Account("nobody-such")
	require.EqualError(t, err, `the image has no user "nobody-such" (use runAsUser with a number)`)
}

// The kubelet reads it before anything of the image runs.
func TestAnImageWithoutAListOfAccountsThatCanBeRead(t *testing.T) {
	for sentence, tc := range map[string]struct {
		place func(passwd string) error
		want  string
	}{
		"a link to a file of the machine":     {func(passwd string) error { return os.Symlink("/etc/passwd", passwd) }, "path escapes from parent"},
		"a link to what has no end":           {func(passwd string) error { return os.Symlink("../../../../../../../../dev/zero", passwd) }, "path escapes from parent"},
		"more than the memory of the machine": {func(passwd string) error { return os.Truncate(create(passwd), 1<<40) }, "its etc/passwd is longer than 1048576 bytes"},
		"a pipe":                              {func(passwd string) error { return syscall.Mkfifo(passwd, 0o600) }, `the image has no user "root"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			etc := filepath.Join(dir, rootfsDir, "etc")
			require.NoError(t, os.MkdirAll(etc, 0o755))
			require.NoError(t, tc.place(filepath.Join(etc, "passwd")))
			_, _, err := Image{dir: dir}.Account("root")
			require.ErrorContains(t, err, tc.want)
			uid, gid, err := Image{dir: dir}.Account("7")
			require.NoError(t, err, "a number needs no list")
			assert.Equal(t, [2]uint32{7, 0}, [2]uint32{uid, gid})
		})
	}
}

func create(path string) string {
	_ = os.WriteFile(path, nil, 0o600) // what uses it fails if it is not there
	return path
}
