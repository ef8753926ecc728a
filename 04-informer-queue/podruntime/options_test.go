package podruntime

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrongInput(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	for args, want := range map[string]string{
		"--since=birth":         `--since is "birth", it can be start or creation; see podruntime --help`,
		"--moon":                "unknown flag: --moon; see podruntime --help",
		"pods":                  `unexpected argument "pods"; see podruntime --help`,
		"--kubeconfig=/nowhere": "stat /nowhere: no such file or directory; correct --kubeconfig, --context or KUBECONFIG",
		"-A":                    "no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG",
	} {
		t.Run(args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, program(t.Context(), []string{args}, &stdout, &stderr))
			assert.Contains(t, stderr.String(), "error: "+want)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one sentence: %s", stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Zero(t, program(t.Context(), []string{"--help"}, &stdout, &stderr))
	assert.Empty(t, stderr.String())
	for _, flag := range []string{"--namespace", "--all-namespaces", "--since", "--listen-addr", "--kubeconfig", "--context"} {
		assert.Contains(t, stdout.String(), flag)
	}
}
