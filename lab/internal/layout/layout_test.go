package layout

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhereTheLabIs(t *testing.T) {
	exe, err := Executable()
	require.NoError(t, err)
	for name, tc := range map[string]struct{ flag, env, want string }{
		"the flag comes first":            {"/from/flag", "/from/env", "/from/flag"},
		"then the environment":            {"", "/from/env", "/from/env"},
		"then the clone of the binary":    {"", "", filepath.Join(filepath.Dir(exe), "..", "..", ".lab")},
		"a path may hold spaces and dots": {"/from/a flag/../b flag", "", "/from/b flag"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(EnvDir, tc.env)
			l, err := New(tc.flag)
			require.NoError(t, err)
			assert.Equal(t, tc.want, l.Root())
		})
	}
}

func TestCreateMarksTheFolderAsTheLabs(t *testing.T) {
	l, err := New(filepath.Join(t.TempDir(), "lab"))
	require.NoError(t, err)
	assert.False(t, l.Exists())
	require.NoError(t, l.Create())
	assert.True(t, l.Exists())
	require.NoError(t, l.Create(), "twice is harmless")
	info, err := os.Stat(l.Root())
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

// Two `lab up` at once: neither takes the other's half-made folder for
// somebody else's.
func TestManyMayCreateAtOnce(t *testing.T) {
	for range 100 {
		l, err := New(filepath.Join(t.TempDir(), "lab"))
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { assert.NoError(t, l.Create()) })
		}
		all.Wait()
		assert.DirExists(t, l.StaticPods())
	}
}

func TestCreateRefusesAFolderThatHoldsOtherThings(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600))
	l, err := New(dir)
	require.NoError(t, err)
	require.ErrorContains(t, l.Create(), "was not written by the lab")
	assert.False(t, l.Exists())
}

func TestTheKubeletGetsAPathThatIsShortEnoughForASocket(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	short, err := New("/short/lab")
	require.NoError(t, err)
	path, err := short.LinkKubelet()
	require.NoError(t, err)
	assert.Equal(t, short.Kubelet(), path)
	require.NoError(t, short.UnlinkKubelet(), "there is nothing to remove")

	long, err := New(filepath.Join("/", strings.Repeat("long/", 30), "lab"))
	require.NoError(t, err)
	for range 2 {
		path, err = long.LinkKubelet()
		require.NoError(t, err)
		target, err := os.Readlink(path)
		require.NoError(t, err)
		assert.Equal(t, long.Kubelet(), target)
	}
	require.NoError(t, long.UnlinkKubelet())
	assert.NoFileExists(t, path)
}
