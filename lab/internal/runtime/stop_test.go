package runtime

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// longGrace is more seconds than a container needs that ends when it is asked to.
const longGrace = 600

func TestStopAsksFirst(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("polite"), "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done")
	w.prints(id, "ready")
	require.NoError(t, w.StopContainer(t.Context(), id, longGrace))
	assert.EqualValues(t, 3, w.exited(id).ExitCode)
	w.prints(id, "bye")
	require.NoError(t, w.StopContainer(t.Context(), id, longGrace), "stopping twice is harmless")
}

func TestStopSignalOfTheContainer(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("signal"), "trap 'exit 4' USR1; echo ready; while :; do sleep 0.01; done",
		func(c *runtimeapi.ContainerConfig) { c.StopSignal = runtimeapi.Signal_SIGNAL_SIGUSR1 })
	w.prints(id, "ready")
	require.NoError(t, w.StopContainer(t.Context(), id, longGrace))
	assert.EqualValues(t, 4, w.exited(id).ExitCode)
}

// The main process ignores the signal, one child is in its group, and one has
// left for a session of its own.
const stubborn = `trap '' TERM; sleep 1000 & setsid sleep 1000 & echo ready; while :; do sleep 0.01; done`

func TestStopKillsAllAfterTheGrace(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("stubborn"), stubborn)
	w.prints(id, "ready")
	began := time.Now()
	require.NoError(t, w.StopContainer(t.Context(), id, 1))
	assert.GreaterOrEqual(t, time.Since(began), time.Second)
	assert.EqualValues(t, 137, w.exited(id).ExitCode)
	assert.Empty(t, leftovers(id))
}

func TestTheEndOfTheMainProcessEndsTheRest(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("rest"), "sleep 1000 & setsid sleep 1000 & exit 5")
	assert.EqualValues(t, 5, w.exited(id).ExitCode)
	assert.Empty(t, leftovers(id))
}

func TestStopPodStopsItsContainers(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("several")
	one, two := w.run(pod, stubborn), w.run(pod, idle)
	w.prints(one, "ready")
	require.NoError(t, w.StopPodSandbox(t.Context(), pod))
	assert.Equal(t, exited, w.status(one).State)
	assert.Equal(t, exited, w.status(two).State)
	sandbox, err := w.PodSandboxStatus(t.Context(), pod, false)
	require.NoError(t, err)
	assert.Equal(t, runtimeapi.PodSandboxState_SANDBOX_NOTREADY, sandbox.Status.State)
	require.NoError(t, w.StopPodSandbox(t.Context(), pod), "stopping twice is harmless")

	require.NoError(t, w.RemovePodSandbox(t.Context(), pod))
	for _, kind := range []string{"sandboxes", "containers"} {
		entries, err := os.ReadDir(filepath.Join(w.options.Root, kind))
		require.NoError(t, err)
		assert.Empty(t, entries)
	}
}

func TestRemoveRunningContainer(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("removed"), "mkdir -p $LAB_ROOT/closed/to/all; chmod 0 $LAB_ROOT/closed; echo ready; exec sleep 1000")
	w.prints(id, "ready")
	require.NoError(t, w.RemoveContainer(t.Context(), id))
	assert.Empty(t, leftovers(id))
	assert.Empty(t, w.ids())
}

func TestAddresses(t *testing.T) {
	w := newWorld(t)
	address := func(pod string) string {
		st, err := w.PodSandboxStatus(t.Context(), pod, false)
		require.NoError(t, err)
		return st.Status.Network.Ip
	}
	one, two := w.pod("one"), w.pod("two")
	if manyAddresses {
		assert.NotEqual(t, address(one), address(two))
	}
	assert.Equal(t, address(one)+"\n", w.log(w.exitedID(w.run(one, "echo $POD_IP")), "stdout"))

	config := w.podConfig("host")
	config.Linux = &runtimeapi.LinuxPodSandboxConfig{SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{
		NamespaceOptions: &runtimeapi.NamespaceOption{Network: runtimeapi.NamespaceMode_NODE},
	}}
	host, err := w.RunPodSandbox(t.Context(), config, "")
	require.NoError(t, err)
	assert.Equal(t, w.options.NodeIP, address(host))
}

// A container that is neither stopped nor known to run would go on in a folder that is deleted.
func TestAContainerThatIsStartingIsStopped(t *testing.T) {
	for sentence, end := range map[string]func(w *world, id, pod string) error{
		"with a pod that is stopped": func(w *world, _, pod string) error { return w.StopPodSandbox(w.Context(), pod) },
		"when it is removed":         func(w *world, id, _ string) error { return w.RemoveContainer(w.Context(), id) },
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			pod := w.pod("starting")
			id := w.create(pod, idle)
			c := w.containers[id]
			require.True(t, c.claimStart()) // what StartContainer does first
			ended := make(chan error, 1)
			go func() { ended <- end(w, id, pod) }()
			require.NoError(t, w.startShim(c))
			assert.Equal(t, runtimeapi.ContainerState_CONTAINER_RUNNING, c.state())
			select {
			case err := <-ended:
				require.Fail(t, "it was not waited for", "%v", err)
			default:
			}
			close(c.begun)
			require.NoError(t, <-ended)
			assert.Equal(t, runtimeapi.ContainerState_CONTAINER_EXITED, c.state())
			assert.Empty(t, leftovers(id))
		})
	}
}

func TestStoppingAContainerWaitsForItsStartNoLongerThanTheCaller(t *testing.T) {
	w := newWorld(t)
	id := w.create(w.pod("starting"), idle)
	require.True(t, w.containers[id].claimStart())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, w.StopContainer(ctx, id, longGrace), context.Canceled)
	close(w.containers[id].begun)
}

func TestAContainerThatIsRemovedIsNotStarted(t *testing.T) {
	w := newWorld(t)
	id := w.create(w.pod("removed"), idle)
	c := w.containers[id]
	require.NoError(t, w.RemoveContainer(t.Context(), id))
	assert.False(t, c.claimStart())
	require.NoError(t, w.RemoveContainer(t.Context(), id))
}
