package runtime

import (
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
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

// A shim allocates for each piece of log, so its garbage collector has run many times.
func TestAContainerThatHasPrintedMuchOutlivesTheKubelet(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("talkative"), "head -c 8000000 /dev/zero | tr '\\0' x; echo; "+untilTerm)
	require.Eventually(t, func() bool { return strings.HasSuffix(tail(t, w.status(id).LogPath), " ready\n") }, testTimeout, tick)
	// Without a writer, the end of the file would be met here, and a Service that closes would wait
	// for the shim's end.
	life, err := syscall.Open(filepath.Join(w.options.Root, "containers", id, "life"), syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer syscall.Close(life)
	_, err = syscall.Read(life, make([]byte, 1))
	require.ErrorIs(t, err, syscall.EAGAIN, "the shim has let go of its FIFO")

	w.reopen()
	require.Equal(t, runtimeapi.ContainerState_CONTAINER_RUNNING, w.status(id).State)
	assert.Equal(t, "in", w.sync(id, "printf in"))
	require.NoError(t, w.containers[id].tell("signal %d", int(syscall.SIGTERM)))
	assert.EqualValues(t, 9, w.exited(id).ExitCode)
}

// tail returns the end of a file that is too long to be read again and again.
func tail(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(t, err)
	end, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-100), 100))
	require.NoError(t, err)
	return string(end)
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

// The lab was down, and another one has claimed its addresses.
func TestAPodIsMadeAgainWhenItsAddressIsAnotherLabs(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("moved")
	w.exited(w.run(pod, "exit 0"))
	w.reopen()
	assert.Equal(t, runtimeapi.PodSandboxState_SANDBOX_READY, w.sandboxState(pod))
	w.prefix = netip.MustParsePrefix("192.0.2.0/24")
	w.reopen()
	assert.Equal(t, runtimeapi.PodSandboxState_SANDBOX_NOTREADY, w.sandboxState(pod))
}

func (w *world) sandboxState(id string) runtimeapi.PodSandboxState {
	w.Helper()
	response, err := w.PodSandboxStatus(w.Context(), id, false)
	require.NoError(w, err)
	return response.Status.State
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
