package image

import (
	"os"
	"path/filepath"
	"testing"

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
		uid, name := Image{Config: Config{User: user}}.User()
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
