package testenv

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAProcessHasEnded(t *testing.T) {
	assert.False(t, ProcessOf(os.Getpid()).Ended(), "this one runs")

	sleeper := exec.CommandContext(t.Context(), "sleep", "1000")
	require.NoError(t, sleeper.Start())
	p := ProcessOf(sleeper.Process.Pid)
	assert.False(t, p.Ended())
	if runtime.GOOS == "linux" {
		p.began = "1"
		assert.True(t, p.Ended(), "another process has its id now")
		p = ProcessOf(sleeper.Process.Pid)
		require.NoError(t, sleeper.Process.Kill())
		ExpectEnd(t, p) // although nobody has waited for it
	}
	_ = sleeper.Process.Kill()
	_ = sleeper.Wait()
	assert.True(t, p.Ended())
}
