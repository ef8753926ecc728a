package podruntime

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
			assert.Equal(t, 1, Run(t.Context(), []string{args}, &stdout, &stderr))
			assert.Contains(t, stderr.String(), "error: "+want)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one sentence: %s", stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func TestSince(t *testing.T) {
	whole := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(50)}, Status: corev1.PodStatus{StartTime: new(at(60))}}
	for args, want := range map[string]int64{"--since=start": 60, "--since=creation": 50, "-A": 60} {
		o, err := parseOptions([]string{args}, nil)
		require.NoError(t, err)
		assert.Equal(t, want, o.since(whole).start, args)
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Zero(t, Run(t.Context(), []string{"--help"}, &stdout, &stderr))
	assert.Empty(t, stderr.String())
	for _, flag := range []string{"--namespace", "--all-namespaces", "--since", "--listen-addr", "--kubeconfig", "--context"} {
		assert.Contains(t, stdout.String(), flag)
	}
}
