package process

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The sleeper would hold the pipe for an hour if only its parent were killed.
func TestWhatAProgramHasStartedEndsWithIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	command := Command(ctx, "sh", "-c", "sleep 3600 & echo started; wait")
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	started := make([]byte, len("started\n"))
	_, err = out.Read(started)
	require.NoError(t, err)
	cancel()
	_, err = out.Read(started) // returns when nobody can write any more
	require.Error(t, err)
	var exit *exec.ExitError
	require.ErrorAs(t, command.Wait(), &exit)
}

func TestTheEnvironmentIsAReaders(t *testing.T) {
	t.Setenv("MAKEFLAGS", "-n")
	t.Setenv("MAKELEVEL", "1")
	t.Setenv("LAB_DIR", "/elsewhere")
	t.Setenv("CDPATH", "/elsewhere")
	t.Setenv("LAB_DIRECTORY", "kept")
	env := Environment([]string{"LAB_DIR"}, "GOWORK=off")
	assert.NotContains(t, env, "MAKEFLAGS=-n")
	assert.NotContains(t, env, "MAKELEVEL=1")
	assert.NotContains(t, env, "LAB_DIR=/elsewhere")
	assert.NotContains(t, env, "CDPATH=/elsewhere")
	assert.Contains(t, env, "LAB_DIRECTORY=kept")
	assert.Equal(t, "GOWORK=off", env[len(env)-1])
}
