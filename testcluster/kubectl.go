package testcluster

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Kubectl runs kubectl as the administrator, and returns what it prints.
func (c *Cluster) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	for i, arg := range args {
		if i > 0 && args[i-1] == "-f" {
			_, _ = os.ReadFile(arg) // go test remembers which files a test itself has read
		}
	}
	// What it remembers of this server must not reach the next one at the same port.
	flags := []string{"--kubeconfig", c.Kubeconfig, "--cache-dir", filepath.Join(c.dir, "kubectl")}
	command := exec.CommandContext(t.Context(), c.ControlPlane.KubectlPath, append(flags, args...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	require.NoError(t, err, "kubectl %v: %s", args, &stderr)
	return string(output)
}
