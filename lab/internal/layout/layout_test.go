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

// Whoever has made the link can turn it to another folder.
func TestALinkOfSomebodyElseIsRefusedAndLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	l, err := New(filepath.Join("/", strings.Repeat("long/", 30), "lab"))
	require.NoError(t, err)
	link, err := l.LinkKubelet()
	require.NoError(t, err)
	_, err = l.linkKubelet(os.Geteuid() + 1)
	require.ErrorContains(t, err, "set TMPDIR to a folder of your own")

	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink("/elsewhere", link))
	_, err = l.LinkKubelet()
	require.ErrorContains(t, err, "set TMPDIR to a folder of your own")
	require.NoError(t, l.UnlinkKubelet())
	target, err := os.Readlink(link)
	require.NoError(t, err)
	assert.Equal(t, "/elsewhere", target)
}
