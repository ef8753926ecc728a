package runtime

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	remote "k8s.io/cri-client/pkg"
	utilexec "k8s.io/utils/exec"
)

func TestExecSync(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("exec"), "echo hello > $LAB_ROOT/file; echo ready; sleep 1000", func(c *runtimeapi.ContainerConfig) {
		c.Envs = []*runtimeapi.KeyValue{{Key: "COLOUR", Value: []byte("blue")}}
	})
	w.prints(id, "ready")

	out, errOut, err := w.ExecSync(t.Context(), id, []string{"sh", "-c", "cat $LAB_ROOT/file; echo $COLOUR; echo oops >&2"}, testTimeout)
	require.NoError(t, err)
	assert.Equal(t, "hello\nblue\n", string(out))
	assert.Equal(t, "oops\n", string(errOut))

	_, _, err = w.ExecSync(t.Context(), id, []string{"sh", "-c", "echo bad >&2; exit 7"}, testTimeout)
	var exit utilexec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 7, exit.ExitStatus())
	require.ErrorContains(t, err, "bad")

	_, _, err = w.ExecSync(t.Context(), id, []string{"foo"}, testTimeout)
	require.EqualError(t, err, `exec: "foo": executable file not found in $PATH`)

	w.sync(id, "echo written by exec > $LAB_ROOT/seen-from-the-container")
	assert.Equal(t, "written by exec\n", w.sync(id, "cat $LAB_ROOT/seen-from-the-container"))
	assert.NoFileExists(t, "/seen-from-the-container")
}

func TestExecSyncTimeout(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("timeout"), idle)
	before := w.processes(id)
	_, _, err := w.ExecSync(t.Context(), id, []string{"sh", "-c", "setsid sleep 1000 & sleep 1000"}, 200*time.Millisecond)
	require.ErrorIs(t, err, remote.ErrCommandTimedOut)
	assert.ElementsMatch(t, before, leftovers(id), "the command is gone, and the container is not")
}

func TestExecLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("behind"), idle)
	before := w.processes(id)
	w.sync(id, "sleep 1000 & setsid sleep 1000 & echo done")
	assert.ElementsMatch(t, before, leftovers(id))
}

func TestExecEndsWithTheContainer(t *testing.T) {
	w := newWorld(t)
	id := w.run(w.pod("both"), idle)
	ended := make(chan error, 1)
	w.tasks.Go(func() {
		_, _, err := w.ExecSync(context.WithoutCancel(t.Context()), id, []string{"sh", "-c", "touch $LAB_ROOT/in; sleep 1000"}, 0)
		ended <- err
	})
	require.Eventually(t, func() bool {
		_, _, err := w.ExecSync(t.Context(), id, []string{"sh", "-c", "test -e $LAB_ROOT/in"}, testTimeout)
		return err == nil
	}, testTimeout, tick)
	require.NoError(t, w.StopContainer(t.Context(), id, 0))
	select {
	case err := <-ended:
		require.Error(t, err)
	case <-time.After(testTimeout):
		require.Fail(t, "the command outlives its container")
	}
	_, _, err := w.ExecSync(t.Context(), id, []string{"true"}, testTimeout)
	require.ErrorContains(t, err, fmt.Sprintf("container %q is not running", id))
}
