package controllerruntime

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

const often = 20 * time.Millisecond

// What happens at the start. Without a right, it is in behaviour_test.go; in all namespaces, in package testing.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(silent(t))
	err := Run(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, Options{})
	require.EqualError(t, err, "http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)")
	err = Run(ctx, &rest.Config{Host: "https://moon", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nowhere"}}, Options{})
	require.EqualError(t, err, "creating a manager for https://moon: failed setting manager default options: open /nowhere: no such file or directory; repair the kubeconfig")
	cancel()
	require.NoError(t, Run(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, Options{}), "to be stopped is no error")
}
