package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/testenv"
)

func TestEnvIsWhatAShellNeeds(t *testing.T) {
	lab := sharedLab(t)
	script := `eval "$(cat)"; kubectl get namespaces -o name; "$KUBEBUILDER_ASSETS/kube-apiserver" --version`
	shell := exec.Command("sh", "-c", script)
	shell.Stdin = strings.NewReader(lab.Run(t, "env"))
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "namespace/kube-system\n")
	assert.Contains(t, string(out), "Kubernetes v1.")
}

func TestStatusShowsEveryComponent(t *testing.T) {
	lab := sharedLab(t)
	components := state(t, lab).Components
	assert.Len(t, components, 5)
	// A busy component may answer too late to be healthy.
	labtest.Eventually(t, "all are healthy", func(ctx context.Context) error {
		out, err := lab.Command(ctx, "status")
		for name := range components {
			if !regexp.MustCompile(`(?m)^` + name + ` +\d+ +\d+ +\d+ +\d+ MiB +healthy`).MatchString(out) {
				err = errors.Join(err, fmt.Errorf("%s is not in\n%s", name, out))
			}
		}
		return err
	})
}

func TestLogs(t *testing.T) {
	lab := sharedLab(t)
	assert.Contains(t, lab.Run(t, "logs", "supervisor"), "supervisor started")
	assert.Empty(t, lab.Run(t, "logs", "audit"), "no program in the cluster has made a request")
}

// followSupervisorLog begins to follow the supervisor's log, and returns a
// function that expects a line with such a text to come, and then leaves.
func followSupervisorLog(t *testing.T, lab *labtest.Lab) (expect func(text string)) {
	t.Helper()
	binary, err := labtest.Binary()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Timeout())
	follow := exec.CommandContext(ctx, binary, "--dir", lab.Dir, "logs", "-f", "supervisor")
	out, err := follow.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, follow.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), "supervisor started")
	return func(text string) {
		t.Helper()
		defer cancel()
		found := false
		for !found && lines.Scan() {
			found = strings.Contains(lines.Text(), text)
		}
		require.True(t, found, "%q is not in the log", text)
		require.NoError(t, follow.Process.Signal(os.Interrupt))
		for lines.Scan() { // to the end: Wait closes the pipe
		}
		require.NoError(t, follow.Wait(), "Ctrl-C is no failure")
	}
}
