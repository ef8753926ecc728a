package clientgo

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// What happens at the start. Without a right, it is in behaviour_test.go.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	run := func(host string) error {
		return Run(ctx, &rest.Config{Host: host}, Options{Workers: 1, Clock: wallclock.New()})
	}
	require.ErrorContains(t, run("http://[moon"), "creating a client for http://[moon: ")
	require.ErrorContains(t, run("http://[moon"), "; repair the kubeconfig")
	require.EqualError(t, run("http://127.0.0.1:1"), "http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)")
	cancel()
	require.NoError(t, run("http://127.0.0.1:1"), "to be interrupted is no error")
}
