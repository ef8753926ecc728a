package runtime

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// inspect looks at one container from outside, as a command of the lab does.
func (w *world) inspect(id string) Container {
	w.Helper()
	all, err := Containers(w.options.Root)
	require.NoError(w, err)
	for _, c := range all {
		if c.ID == id {
			return c
		}
	}
	require.Fail(w, "there is no such container")
	return Container{}
}

func TestContainersSeenFromOutside(t *testing.T) {
	w := newWorld(t)
	none, err := Containers(w.dir)
	require.NoError(t, err)
	assert.Empty(t, none)

	pod := w.pod("seen")
	created := w.create(pod, idle, func(c *runtimeapi.ContainerConfig) {
		c.Metadata.Attempt = 2
		c.Labels = map[string]string{podLabel: "seen", namespaceLabel: "default"}
	})
	c := w.inspect(created)
	assert.Equal(t, []string{"default", "seen", "main", "busybox:1.36"}, []string{c.Namespace, c.Pod, c.Name, c.Image})
	assert.Equal(t, 2, c.Attempt)
	assert.False(t, c.Running())

	require.NoError(t, w.StartContainer(t.Context(), created))
	assert.True(t, w.inspect(created).Running())
	for _, pid := range w.processes(created) {
		assert.Equal(t, pid, w.inspect(created).PID)
	}
	failed := w.exitedID(w.run(pod, "exit 3"))
	assert.Equal(t, 3, w.inspect(failed).Exit.Code)
	assert.False(t, w.inspect(failed).Running())
}

func TestStopFromOutside(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		code   int32
	}{
		"one that obeys": {"trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done", 5},
		"a stubborn one": {"trap '' TERM; echo ready; while :; do sleep 0.01; done", 137},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.run(w.pod("stop"), tc.script)
			w.prints(id, "ready")
			grace := testTimeout
			if tc.code == 137 {
				grace = tick
			}
			require.NoError(t, w.inspect(id).Stop(t.Context(), grace))
			assert.Equal(t, tc.code, w.exited(id).ExitCode)
			require.NoError(t, w.inspect(id).Stop(t.Context(), grace), "it has ended")
		})
	}
}

func TestALogFromOutside(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("log"), "echo first; read line; echo second", func(c *runtimeapi.ContainerConfig) { c.Stdin = true })
	w.prints(id, "first")
	var now, all bytes.Buffer
	require.NoError(t, w.inspect(id).PrintLog(t.Context(), &now, false))
	assert.Equal(t, "first\n", now.String())

	followed := make(chan error, 1)
	c := w.inspect(id)
	go func() { followed <- c.PrintLog(t.Context(), &all, true) }()
	require.NoError(t, c.Stop(t.Context(), testTimeout))
	require.NoError(t, <-followed, "it ends with the container")
	assert.Contains(t, all.String(), "first\n")
}
