package shipping

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/06-shipping/internal/testprogram"
)

// elsewhere is the kubectl of a cluster whose pods have a network of their own. There a
// port-forward ends at the pod's loopback.
const elsewhere = `#!/bin/sh
case $* in
*port-forward*)
	echo 'an error occurred forwarding 40000 -> 8443: connect: connection refused' >&2
	echo 'Forwarding from 127.0.0.1:40000 -> 8443'
	exec sleep 1000 ;;
*raw*) echo 'error: EOF' >&2; exit 1 ;;
*) echo some ;;
esac
`

func TestMetricsOfAnotherCluster(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(elsewhere), 0o755))
	testprogram.ReadBySomebodyElse(t, "metrics.sh", "read.sh")
	command := exec.CommandContext(t.Context(), "sh", "metrics.sh")
	command.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(output), "ask from another pod, as runbooks/CnatManagerDown.md shows\n")
}
