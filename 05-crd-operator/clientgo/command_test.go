package clientgo

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheCommandLine(t *testing.T) {
	var help bytes.Buffer
	c, err := parseCommand([]string{"--workers=3", "-A", "-n", "harbour", "--context=moon", "--kubeconfig=file"}, &help)
	require.NoError(t, err)
	assert.Equal(t, 3, c.workers)
	assert.True(t, c.allNamespaces)
	assert.Equal(t, "harbour", c.cluster.Namespace)
	assert.Equal(t, "moon", c.cluster.Context)
	assert.Equal(t, "file", c.cluster.Kubeconfig)

	c, err = parseCommand(nil, &help)
	require.NoError(t, err)
	assert.Equal(t, command{workers: 8}, c)
	assert.Empty(t, help.String())
}

func TestMainSaysWhatIsWrong(t *testing.T) {
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
		"no workers":        {[]string{"--workers=0"}, "error: --workers is 0, it must be at least 1; see clientgo --help\n"},
		"an argument":       {[]string{"now"}, "error: unexpected argument \"now\"; see clientgo --help\n"},
		"an unknown flag":   {[]string{"--moon"}, "error: unknown flag: --moon; see clientgo --help\n"},
		"no kubeconfig":     {nil, "error: no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG\n"},
		"no server answers": {[]string{"-A", "--kubeconfig", refused}, "error: http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, Main(t.Context(), tc.args, &stdout, &stderr))
			assert.Equal(t, tc.want, stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 0, Main(t.Context(), []string{"--help"}, &stdout, &stderr))
	assert.Contains(t, stdout.String(), "Run the commands of Ats when their time has come.\n\nUsage:\n  clientgo [flags]")
	assert.Empty(t, stderr.String())
}

func TestTheNamespaceThatIsMeant(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, namespace: harbour}}]
current-context: test
`, server.URL), 0o600))

	const group = "/apis/cnat.programming-kubernetes.info/v1alpha1"
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"that of the context": {nil, group + "/namespaces/harbour/ats"},
		"that of -n":          {[]string{"-n", "coast"}, group + "/namespaces/coast/ats"},
		"all":                 {[]string{"-A", "-n", "coast"}, group + "/ats"},
	} {
		t.Run(name, func(t *testing.T) {
			asked = nil
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, Main(t.Context(), append(tc.args, "--kubeconfig", kubeconfig), &stdout, &stderr))
			assert.Equal(t, "error: the cluster does not know Ats; tell it what they are with kubectl apply -f config/crd\n", stderr.String())
			assert.Equal(t, []string{tc.want}, asked)
		})
	}
}
