package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

func TestTheNamespacesArePrinted(t *testing.T) {
	c := testcluster.Start(t)
	t.Setenv("KUBECACHEDIR", t.TempDir()) // discovery's cache must not outlive the server
	// The API server makes its own in the background after it is ready.
	assert.EventuallyWithT(t, func(collect *assert.CollectT) {
		var out bytes.Buffer
		require.NoError(collect, run(t.Context(), c.Config, &out))
		assert.Equal(collect, "default is currently Active\nkube-node-lease is currently Active\n"+
			"kube-public is currently Active\nkube-system is currently Active\n", out.String())
	}, testcluster.TestTimeout, 50*time.Millisecond)
}

// What the machine that the test runs on has in its kubeconfig does not matter.
func TestTheConfigAloneChoosesTheCluster(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(broken, []byte("apiVersion: [v1"), 0o600))
	t.Setenv("KUBECONFIG", broken)
	t.Setenv("KUBECACHEDIR", t.TempDir())
	err := run(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, nil)
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), broken)
}

func TestAServerThatIsNotThereIsAnError(t *testing.T) {
	t.Setenv("KUBECACHEDIR", t.TempDir())
	err := run(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, nil)
	require.ErrorContains(t, err, "listing the namespaces: ")
	require.ErrorContains(t, err, "connection refused")
}
