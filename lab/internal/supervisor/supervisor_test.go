package supervisor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/filelock"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/testenv"
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

// What runs is known by its locks, so that a broken state costs only its own content.
func TestTheNextSupervisorReplacesAStateThat(t *testing.T) {
	for name, damage := range testenv.Damages {
		t.Run(name, func(t *testing.T) {
			l := newLayout(t)
			state := State{PID: os.Getpid(), Components: map[string]ComponentState{"etcd": {PID: os.Getpid(), Restarts: 2, LastExit: "signal: killed"}}}
			require.NoError(t, state.write(l))
			testenv.Damage(t, l.State(), damage)
			_, err := ReadState(l)
			require.ErrorContains(t, err, l.State())
			require.NoError(t, os.WriteFile(l.SupervisorLock(), nil, 0o600)) // the file alone means nothing
			pid, err := PID(l)
			require.NoError(t, err)
			assert.Zero(t, pid)
			require.NoError(t, WaitGone(t.Context(), l, testenv.Timeout()))
			require.NoError(t, state.write(l))
			got, err := ReadState(l)
			require.NoError(t, err)
			assert.Equal(t, state, got)
		})
	}
}

func TestStateOnAFullDiskStaysAsItWas(t *testing.T) {
	testenv.OnFullDisk(t, func(fill func()) {
		l := newLayout(t)
		before := State{PID: 12, Components: map[string]ComponentState{}}
		require.NoError(t, before.write(l))
		fill()
		require.ErrorContains(t, State{PID: 13}.write(l), "is full")
		after, err := ReadState(l)
		require.NoError(t, err)
		assert.Equal(t, before, after)
	})
}

func TestWaitGoneNamesTheFileThatIsHeld(t *testing.T) {
	l := newLayout(t)
	held, err := filelock.Lock(t.Context(), l.AliveLock())
	require.NoError(t, err)
	defer held.Close()
	require.ErrorContains(t, WaitGone(t.Context(), l, 40*time.Millisecond), l.AliveLock())
}
