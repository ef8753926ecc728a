package podlog

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
		"--resync=1ms":          "--resync is 1ms, it must be 0 or at least 1s; see podlog --help",
		"--resync=-1s":          "--resync is -1s, it must be 0 or at least 1s; see podlog --help",
		"--moon":                "unknown flag: --moon; see podlog --help",
		"pods":                  `unexpected argument "pods"; see podlog --help`,
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
	for _, flag := range []string{"--namespace", "--all-namespaces", "--resync", "--kubeconfig", "--context"} {
		assert.Contains(t, stdout.String(), flag)
	}
}
