package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/03-watch/cli"
	"example.com/hacking-a-controller/testcluster"
)

// watchCommand runs the program inside the test, until it ends.
func watchCommand(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	defer cancel()
	var out, errs bytes.Buffer
	code = cli.Run(ctx, newCommand(), args, &out, &errs)
	require.NoError(t, ctx.Err(), "it does not end by itself")
	return out.String(), errs.String(), code
}

// kubeconfigFor writes a kubeconfig for a server without TLS.
func kubeconfigFor(t *testing.T, address string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, user: test, namespace: harbour}}]
users: [{name: test, user: {token: test}}]
current-context: test
`, address), 0o600))
	return path
}

// silentServer is a server that takes requests and never answers. It returns
// the path of a kubeconfig for it.
func silentServer(t *testing.T, requested chan<- struct{}) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requested <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return kubeconfigFor(t, server.URL)
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown subcommand":        {[]string{"pod"}, "error: unknown subcommand \"pod\"; see watch --help\n"},
		"an unknown flag":              {[]string{"pods", "--moon"}, "error: unknown flag: --moon; see watch pods --help\n"},
		"a flag of another subcommand": {[]string{"raw", "--any=nodes"}, "error: unknown flag: --any; see watch raw --help\n"},
		"a flag without its value":     {[]string{"raw", "-n"}, "error: flag needs an argument: 'n' in -n; see watch raw --help\n"},
		"an argument":                  {[]string{"pods", "demo"}, "error: unexpected argument \"demo\"; see watch pods --help\n"},
		"an unknown output":            {[]string{"pods", "-o", "yaml"}, "error: unknown output \"yaml\", only json is known; see watch pods --help\n"},
		"a selector that does not parse": {[]string{"pods", "-l", "app in demo"},
			"error: the selector \"app in demo\" is not valid: unable to parse requirement: found 'demo' expected: '('; it looks like app=demo or app!=demo; see watch pods --help\n"},
		"a request that may not last": {[]string{"runtime", "--request-timeout=0s"}, "error: --request-timeout is 0s, it must be more than 0; see watch runtime --help\n"},
		"an unknown context": {[]string{"pods", "--context=moon"},
			"error: context \"moon\" does not exist; correct --kubeconfig, --context or KUBECONFIG\n"},
		"a kubeconfig that is not there": {[]string{"pods", "--kubeconfig=/nowhere"},
			"error: stat /nowhere: no such file or directory; correct --kubeconfig, --context or KUBECONFIG\n"},
	}
	t.Setenv("KUBECONFIG", kubeconfigFor(t, "http://127.0.0.1:1"))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := watchCommand(t, tc.args...)
			assert.Equal(t, tc.want, stderr)
			assert.Empty(t, stdout)
			assert.Equal(t, 1, code)
		})
	}
}

func TestNoClusterConfiguration(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	_, stderr, code := watchCommand(t, "pods")
	assert.Equal(t, "error: no cluster configuration found; name a kubeconfig with --kubeconfig or KUBECONFIG\n", stderr)
	assert.Equal(t, 1, code)
}

func TestHelpGoesToStdoutAndIsNoFailure(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"pods", "--help"}} {
		stdout, stderr, code := watchCommand(t, args...)
		assert.Equal(t, 0, code)
		assert.Empty(t, stderr)
		assert.Contains(t, stdout, "--request-timeout")
	}
}

func TestServersThatCannotBeUsed(t *testing.T) {
	tests := map[string]struct{ address, want string }{
		"nothing listens": {"http://127.0.0.1:1",
			"error: http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)\n"},
		"the host does not exist": {"http://moon.invalid", "error: the host of http://moon.invalid was not found; check its name in the kubeconfig, and the network"},
	}
	for name, tc := range tests {
		for _, subcommand := range []string{"pods", "pods --any=nodes", "raw", "runtime"} {
			t.Run(name+"/"+subcommand, func(t *testing.T) {
				args := append(strings.Fields(subcommand), "--kubeconfig", kubeconfigFor(t, tc.address))
				_, stderr, code := watchCommand(t, args...)
				assert.Contains(t, stderr, tc.want)
				assert.Equal(t, 1, code)
			})
		}
	}
}

func TestAServerThatNeverAnswers(t *testing.T) {
	requested := make(chan struct{}, 100)
	kubeconfig := silentServer(t, requested)
	for _, subcommand := range []string{"pods", "pods --any=nodes", "raw", "runtime"} {
		t.Run(subcommand, func(t *testing.T) {
			args := append(strings.Fields(subcommand), "--kubeconfig", kubeconfig, "--request-timeout=100ms")
			_, stderr, code := watchCommand(t, args...)
			assert.Contains(t, stderr, " did not answer in time; see whether it is up with kubectl get --raw /readyz")
			assert.NotContains(t, stderr, "Get \"", "the address is in the sentence already")
			assert.Equal(t, 1, code)
		})
	}
}
