package supervisor

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

// A clone is built again while its lab runs.
func TestWhatIsRestartedIsWhatWasStarted(t *testing.T) {
	l := newLab(t)
	program := filepath.Join(t.TempDir(), "program")
	executable, err := os.Executable()
	require.NoError(t, err)
	testenv.CopyProgram(t, executable, program)
	supervisor := exec.Command(program)
	supervisor.Args = []string{boss, l.Root()}
	stderr, err := supervisor.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, supervisor.Start())
	defer func() {
		require.NoError(t, supervisor.Process.Signal(syscall.SIGTERM))
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			t.Log(lines.Text())
		}
		assert.NoError(t, supervisor.Wait())
	}()
	eventually(t, "it runs", func() bool { return logOf(l, worker) == "begins []\n" })

	newer := program + ".new"
	require.NoError(t, os.WriteFile(newer, []byte("#!/bin/sh\necho another program\n"), 0o755))
	require.NoError(t, os.Rename(newer, program))
	state, err := ReadState(l)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(state.Components[worker].PID, syscall.SIGKILL))
	eventually(t, "it is started again", func() bool { return len(logOf(l, worker)) > len("begins []\n") })
	assert.Equal(t, "begins []\nbegins []\n", logOf(l, worker))
}
