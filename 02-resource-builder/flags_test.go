package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"
)

// Neither of these makes a request.
func TestWhatTheBuilderIgnoresOrWaitsForIsRejected(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"fields of what a file names": {[]string{"-f", "x.yaml", "--field-selector", "spec=a"}, "--field-selector and -f can't be given together: only the server compares fields, and only in lists"},
		"a URL that may never answer": {[]string{"-f", "https://example.com/x.yaml"}, "-f reads files only: the Builder would wait for a URL forever; download it first"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, stderr := resourceBuilder(t, tc.args...)
			assert.Equal(t, []string{tc.want}, stderr)
		})
	}
}

// Without a kubeconfig, clientcmd looks for the service account of a pod, but only if its configuration is the default.
func TestATimeoutHidesNoServiceAccount(t *testing.T) {
	t.Setenv("KUBECONFIG", "missing")
	t.Setenv("KUBERNETES_SERVICE_HOST", "") // the test may run in a pod
	standard, err := clientcmd.DefaultClientConfig.ClientConfig()
	require.NoError(t, err)
	for args, want := range map[string]time.Duration{"": 10 * time.Second, "--request-timeout=5s": 5 * time.Second, "--request-timeout=0": 0} {
		config := genericclioptions.NewConfigFlags(true)
		require.NoError(t, newCommand(config).ParseFlags(strings.Fields(args)))
		loaded, err := config.ToRawKubeConfigLoader().ClientConfig()
		require.NoError(t, err)
		assert.Equal(t, standard, loaded, args)
		loaded, err = config.ToRESTConfig()
		require.NoError(t, err)
		assert.Equal(t, want, loaded.Timeout, args)
	}
}
