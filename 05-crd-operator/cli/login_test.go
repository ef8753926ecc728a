package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
)

// withHelper has a shell script as its login helper.
func withHelper(script string) *rest.Config {
	return &rest.Config{Host: "https://example:6443", ExecProvider: &api.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "sh", Args: []string{"-c", script}, InteractiveMode: api.NeverExecInteractiveMode,
	}}
}

func TestALoginHelperRunsOnce(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	config := withHelper(`echo run >>"` + runs + `"; echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"sesame"}}'`)
	for range 2 { // the second is the request of a client
		require.NoError(t, Login(config))
	}
	content, err := os.ReadFile(runs)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(content), "run"), "what it printed is kept")
	assert.NoError(t, Login(&rest.Config{Host: "https://example:6443"}), "without a helper there is nothing to do")
}

// The helper runs while the folder of the test is there, so that no process is left behind.
func TestALoginHelperThatHangs(t *testing.T) {
	require.EqualError(t, login(withHelper(`while [ -d "`+t.TempDir()+`" ]; do sleep 0.05; done`), time.Millisecond),
		"the login helper sh did not end within 1ms; run it by hand to see what it waits for, then run this again")
}

func TestALoginHelperOfAnotherVersion(t *testing.T) {
	config := withHelper("true")
	config.ExecProvider.APIVersion = "client.authentication.k8s.io/v9"
	require.EqualError(t, Login(config), `exec plugin: invalid apiVersion "client.authentication.k8s.io/v9"; correct users in the kubeconfig`)
}

func TestLoadRunsTheLoginHelper(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: x, clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}],
contexts: [{name: x, context: {cluster: c, user: u}}],
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "false", interactiveMode: Never}}}]}`), 0o600))
	_, _, err := (&ConfigFlags{Kubeconfig: kubeconfig}).Load()
	require.EqualError(t, err, "the login helper that the kubeconfig names (users, exec) gave no credentials; install it, or log in again (exec: executable false failed with exit code 1)")
}
