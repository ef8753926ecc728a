package runtime

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// untilTerm ends when it is told to, and not before. A command that is executed
// in the container could not tell it: it would be killed with the container.
const untilTerm = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done"

func TestContainersOutliveTheKubelet(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("survivor")
	alive := w.run(pod, untilTerm)
	w.prints(alive, "ready")
	over := w.run(pod, "exit 8")
	created := w.create(pod, "exit 7")
	w.exited(over)
	before := w.status(alive)
	address := w.sandboxes[pod].record.IP

	w.reopen()
	assert.Equal(t, before.String(), w.status(alive).String())
	assert.EqualValues(t, 8, w.status(over).ExitCode)
	assert.Equal(t, runtimeapi.ContainerState_CONTAINER_CREATED, w.status(created).State)
	another, err := w.options.Pool.Get()
	require.NoError(t, err)
	if manyAddresses {
		assert.NotEqual(t, address, another, "the pod still has its address")
	}

	assert.Equal(t, "in", w.sync(alive, "printf in"))
	require.NoError(t, w.containers[alive].tell("signal %d", int(syscall.SIGTERM)))
	assert.EqualValues(t, 9, w.exited(alive).ExitCode)
	require.NoError(t, w.StartContainer(t.Context(), created))
	assert.EqualValues(t, 7, w.exited(created).ExitCode)
}

func TestContainerEndsWhileTheKubeletIsAway(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("away"), untilTerm)
	w.prints(id, "ready")
	require.NoError(t, w.Close(t.Context()))
	require.NoError(t, w.containers[id].tell("signal %d", int(syscall.SIGTERM)))
	require.NoError(t, waitGone(t.Context(), filepath.Join(w.options.Root, "containers", id, "life")))
	w.open()
	assert.Equal(t, exited, w.status(id).State)
	assert.EqualValues(t, 9, w.status(id).ExitCode)
}

func TestHalfMadeContainerIsForgotten(t *testing.T) {
	w := newWorld(t)
	half := filepath.Join(w.options.Root, "containers", "half")
	require.NoError(t, os.MkdirAll(half, 0o755))
	w.reopen()
	assert.NoDirExists(t, half)
}

func TestNothingOutlivesTheLab(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("doomed")
	// It ends as soon as it gets the signal: the lab grants all containers two seconds.
	polite := w.run(pod, "trap 'exit 3' TERM; sleep 1000 & echo ready; wait")
	stubborn := w.run(pod, stubborn)
	pause := w.run(pod, "", func(c *runtimeapi.ContainerConfig) { c.Image.Image, c.Command = "pause", nil })
	w.prints(polite, "ready")
	w.prints(stubborn, "ready")
	require.NoError(t, w.lifeline.Close())
	w.lifeline = nil
	assert.EqualValues(t, 3, w.exited(polite).ExitCode)
	assert.EqualValues(t, 137, w.exited(stubborn).ExitCode)
	w.exited(pause)
	for _, id := range w.ids() {
		assert.Empty(t, leftovers(id))
	}
}
