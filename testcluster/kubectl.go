package testcluster

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Kubectl runs kubectl as the administrator, and returns what it prints.
func (c *Cluster) Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	// What it remembers of this server must not reach the next one at the same port.
	args = append(args, "--kubeconfig", c.Kubeconfig, "--cache-dir", filepath.Join(c.dir, "kubectl"))
	output, err := exec.CommandContext(t.Context(), c.ControlPlane.KubectlPath, args...).CombinedOutput()
	require.NoError(t, err, "kubectl %v: %s", args, output)
	return string(output)
}
