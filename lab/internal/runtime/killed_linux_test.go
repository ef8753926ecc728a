package runtime

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shimOf returns the process ID of a container's shim.
func shimOf(t *testing.T, pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	require.NoError(t, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, err := strconv.Atoi(fields[1])
	require.NoError(t, err)
	return parent
}

func TestKilledShimTakesItsContainerAlong(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("orphans"), stubborn)
	w.prints(id, "ready")
	require.NoError(t, syscall.Kill(shimOf(t, w.containers[id].started.PID), syscall.SIGKILL))
	st := w.exited(id)
	assert.EqualValues(t, 137, st.ExitCode)
	assert.Equal(t, "ShimKilled", st.Reason)
	assert.Empty(t, leftovers(id))
	w.reopen()
	assert.EqualValues(t, 137, w.status(id).ExitCode)
}

func TestKilledShimIsNoticedByTheNextKubelet(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("orphans"), stubborn)
	w.prints(id, "ready")
	shim := shimOf(t, w.containers[id].started.PID)
	require.NoError(t, w.Close(t.Context()))
	require.NoError(t, syscall.Kill(shim, syscall.SIGKILL))
	require.NoError(t, waitGone(t.Context(), filepath.Join(w.options.Root, "containers", id, "life")))
	w.open()
	assert.Equal(t, exited, w.status(id).State)
	assert.Empty(t, leftovers(id))
}
