package supervisor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/layout"
)

func newLayout(t *testing.T) layout.Layout {
	t.Helper()
	l, err := layout.New(filepath.Join(t.TempDir(), "lab"))
	require.NoError(t, err)
	require.NoError(t, l.Create())
	return l
}

func TestBackoffDoublesUpToALimitAndForgets(t *testing.T) {
	var b backoff
	assert.Equal(t, firstDelay, b.next(0))
	assert.Equal(t, 2*firstDelay, b.next(0))
	assert.Equal(t, 4*firstDelay, b.next(time.Second))
	for range 20 {
		b.next(0)
	}
	assert.Equal(t, maxDelay, b.next(0))
	assert.Equal(t, firstDelay, b.next(wellAfter), "it had been well for long")
}

func TestPIDOfNobody(t *testing.T) {
	l := newLayout(t)
	pid, err := PID(l)
	require.NoError(t, err)
	assert.Zero(t, pid, "there was never a supervisor")

	require.NoError(t, os.WriteFile(l.SupervisorLock(), nil, 0o600))
	pid, err = PID(l)
	require.NoError(t, err)
	assert.Zero(t, pid, "the file alone means nothing")
}

func TestStateIsReadAsItWasWritten(t *testing.T) {
	l := newLayout(t)
	want := State{PID: 12, Components: map[string]ComponentState{"etcd": {PID: 34, Restarts: 2, LastExit: "signal: killed"}}}
	require.NoError(t, want.write(l))
	got, err := ReadState(l)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestFlockWaitsForTheLastHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Flock(t.Context(), path)
	require.NoError(t, err)
	// A child inherits the lock, as the components of the lab do.
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{held}
	stdin, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	require.NoError(t, held.Close())

	ctx, cancel := context.WithTimeout(t.Context(), 3*pollInterval)
	defer cancel()
	_, err = Flock(ctx, path)
	require.ErrorIs(t, err, context.DeadlineExceeded, "the child still has it")

	require.NoError(t, stdin.Close())
	require.NoError(t, child.Wait())
	free, err := Flock(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, free.Close())
}

func TestWaitGoneNamesTheFileThatIsHeld(t *testing.T) {
	l := newLayout(t)
	held, err := Flock(t.Context(), l.AliveLock())
	require.NoError(t, err)
	defer held.Close()
	require.ErrorContains(t, WaitGone(t.Context(), l, 2*pollInterval), l.AliveLock())
}

func TestALargeLogIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some.log")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Truncate(path, maxLog+1))
	f, err := openLog(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, info.Size())
	assert.FileExists(t, path+".old")
}
