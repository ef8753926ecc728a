//go:build !try

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// TestMain is the program itself where a test runs it.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// runMain runs the program with a kubeconfig.
func runMain(t *testing.T, kubeconfig string) (stdout, stderr string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), "RUN_MAIN=1", "KUBERNETES_SERVICE_HOST=", "KUBECONFIG="+kubeconfig)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err = command.Run()
	return out.String(), errs.String(), err
}

func TestACertificateThatIsNotThereIsAnError(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAFile: "no/such/ca.crt"}}
	require.ErrorContains(t, run(t.Context(), config, nil), "no/such/ca.crt")
}

func TestAServerThatIsNotThereIsAnError(t *testing.T) {
	err := run(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, nil)
	require.ErrorContains(t, err, "listing the namespaces: ")
	require.ErrorContains(t, err, "connection refused")
}

func TestARequestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, nil), context.Canceled)
}

func TestTheNamespacesArePrinted(t *testing.T) {
	c := testcluster.Start(t)
	// The API server makes its own in the background after it is ready.
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		namespaces, err := c.Client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		require.NoError(collect, err)
		assert.Len(collect, namespaces.Items, 4)
	}, testcluster.TestTimeout, 50*time.Millisecond)
	const want = "default\nkube-node-lease\nkube-public\nkube-system\n"

	t.Run("by run", func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), c.Config, &out))
		assert.Equal(t, want, out.String())
	})
	t.Run("by the program", func(t *testing.T) {
		stdout, stderr, err := runMain(t, c.Kubeconfig)
		require.NoError(t, err, stderr)
		assert.Equal(t, want, stdout)
	})
}

func TestTheProgramReportsItsError(t *testing.T) {
	stdout, stderr, err := runMain(t, "no/such/kubeconfig")
	require.EqualError(t, err, "exit status 1")
	assert.Empty(t, stdout)
	assert.Regexp(t, `^error: .*no configuration`, stderr)
}
