package runtime

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLog(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("log"), "echo to stdout; echo to stderr >&2; printf 'no newline'")
	w.exited(id)
	assert.Equal(t, "to stdout\nno newline", w.log(id, "stdout"))
	assert.Equal(t, "to stderr\n", w.log(id, "stderr"))
	data, err := os.ReadFile(w.status(id).LogPath)
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z stdout F to stdout$`, string(data))
	assert.Regexp(t, `(?m)^\S+ stderr F to stderr$`, string(data))
	assert.Regexp(t, `(?m)^\S+ stdout P no newline$`, string(data))
}

func TestPromptIsLoggedAtOnce(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("prompt"), "printf 'name? '; sleep 1000")
	w.prints(id, "name? ")
	assert.Equal(t, running, w.status(id).State)
}

func TestLongLinesAreCut(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("long"), "head -c 100000 /dev/zero | tr '\\0' x; echo")
	w.exited(id)
	assert.Equal(t, strings.Repeat("x", 100000)+"\n", w.log(id, "stdout"))
	data, err := os.ReadFile(w.status(id).LogPath)
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		require.Less(t, len(line), 17<<10)
	}
}

func TestAllOutputIsLoggedBeforeTheExit(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("much"), "seq 100000")
	w.exited(id)
	out := w.log(id, "stdout")
	assert.Equal(t, 100000, strings.Count(out, "\n"))
	assert.True(t, strings.HasSuffix(out, "\n100000\n"))
}

func TestReopenLog(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("rotate"), "echo before; while ! [ -e $LAB_ROOT/go ]; do sleep 0.01; done; echo after; sleep 1000")
	w.prints(id, "before")
	path := w.status(id).LogPath
	require.NoError(t, os.Rename(path, path+".1"))
	require.NoError(t, w.ReopenContainerLog(t.Context(), id))
	w.sync(id, "touch $LAB_ROOT/go")
	w.prints(id, "after")
	assert.NotContains(t, w.log(id, "stdout"), "before")
	require.NoError(t, w.StopContainer(t.Context(), id, 0))
	require.Error(t, w.ReopenContainerLog(t.Context(), id), "there is nobody to write a log")
}
