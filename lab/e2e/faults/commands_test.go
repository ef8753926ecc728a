package faults

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

func TestEnvIsWhatAShellNeeds(t *testing.T) {
	lab := startLab(t)
	script := `eval "$(cat)"; kubectl get namespaces -o name; "$KUBEBUILDER_ASSETS/kube-apiserver" --version`
	shell := exec.Command("sh", "-c", script)
	shell.Stdin = strings.NewReader(lab.Run(t, "env"))
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "namespace/kube-system\n")
	assert.Contains(t, string(out), "Kubernetes v1.")
}

func TestStatusShowsEveryComponent(t *testing.T) {
	lab := startLab(t)
	out := lab.Run(t, "status")
	for name, c := range state(t, lab).Components {
		assert.Regexp(t, `(?m)^`+name+` +\d+ +\d+ +\d+ +\d+ MiB +healthy`, out)
		assert.NotZero(t, c.PID)
	}
}

func TestLogs(t *testing.T) {
	lab := startLab(t)
	assert.Contains(t, lab.Run(t, "logs", "supervisor"), "supervisor started")
	assert.Empty(t, lab.Run(t, "logs", "audit"), "no program runs in the cluster that could ask for something")

	binary, err := labtest.Binary()
	require.NoError(t, err)
	follow := exec.Command(binary, "--dir", lab.Dir, "logs", "-f", "supervisor")
	out, err := follow.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, follow.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	assert.Contains(t, lines.Text(), "supervisor started")
	lab.Run(t, "down") // which the supervisor notes
	require.True(t, lines.Scan())
	assert.Contains(t, lines.Text(), "stopping")
	require.NoError(t, follow.Process.Signal(os.Interrupt))
	for lines.Scan() { // to the end: Wait closes the pipe
	}
	require.NoError(t, follow.Wait(), "Ctrl-C is no failure")
}
