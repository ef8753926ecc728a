package process

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/testenv"
)

// The sleeper has a group of its own, and its parent ends without it.
func TestWhatIsLeftBehindIsFoundByItsMark(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return // nothing is looked for without /proc
	}
	command := exec.CommandContext(t.Context(), "sh", "-c", "set -m; sleep 3600 & echo started")
	command.Env = Environment(nil)
	mark := NewMark(command)
	other := exec.CommandContext(t.Context(), "sleep", "3600")
	other.Env = Environment(nil)
	NewMark(other)
	require.NoError(t, other.Start())
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	started := make([]byte, len("started\n"))
	_, err = out.Read(started)
	require.NoError(t, err)
	mark.Kill()
	require.NoError(t, out.(*os.File).SetReadDeadline(time.Now().Add(testenv.Timeout())))
	_, err = out.Read(started)
	require.ErrorIs(t, err, io.EOF, "somebody can still write")
	require.NoError(t, other.Process.Signal(syscall.Signal(0)), "one with another mark")
	assert.NoError(t, other.Process.Kill())
	assert.Error(t, other.Wait())
}
