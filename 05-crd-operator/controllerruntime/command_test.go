package controllerruntime

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/cli"
)

func TestTheCommandReportsWhatIsWrong(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	refused := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(refused, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: test, context: {cluster: test, namespace: harbour}}]
current-context: test
`), 0o600))

	tests := map[string]struct {
		args []string
		want string
	}{
		"no workers":        {[]string{"--workers=0"}, "error: --workers is 0, it must be at least 1; see controllerruntime --help\n"},
		"an argument":       {[]string{"now"}, "error: unexpected argument \"now\"; see controllerruntime --help\n"},
		"no server answers": {[]string{"-A", "--kubeconfig", refused}, "error: http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, cli.Run(silent(t), Command(), tc.args, &stdout, &stderr))
			assert.Equal(t, tc.want, stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 0, cli.Run(silent(t), Command(), []string{"--help"}, &stdout, &stderr))
	assert.Contains(t, stdout.String(), "Run the commands of Ats when their time has come\n\nUsage:\n  controllerruntime [flags]")
	assert.Empty(t, stderr.String())
}
