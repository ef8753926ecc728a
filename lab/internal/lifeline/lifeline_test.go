package lifeline

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be its own child.
func TestMain(m *testing.M) {
	if os.Getenv("LIFELINE_TEST_CHILD") != "" {
		files := Inherit()
		fmt.Println("ready")
		files.ExitWhenCut()
		fmt.Println("went on")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAProcessEndsWhenItsLifelineIsCut(t *testing.T) {
	pipe, cut, err := os.Pipe()
	require.NoError(t, err)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "LIFELINE_TEST_CHILD=1", Env)
	child.ExtraFiles = []*os.File{pipe, pipe}
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	buffer := make([]byte, 1000)
	n, err := out.Read(buffer)
	require.NoError(t, err)

	require.NoError(t, cut.Close())
	var exit *exec.ExitError
	require.ErrorAs(t, child.Wait(), &exit)
	assert.Equal(t, 1, exit.ExitCode())
	assert.NotContains(t, string(buffer[:n]), "went on")
}

func TestAProcessWithoutALifelineGoesOn(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "LIFELINE_TEST_CHILD=1")
	out, err := child.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "went on")
}
