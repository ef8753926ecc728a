package manager

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestAReconcileLeavesNoGoroutine is what a soak finds in an hour, in a millisecond.
func TestAReconcileLeavesNoGoroutine(t *testing.T) {
	const many = 1000
	tracing, err := startTracing(t.Context(), Options{})
	require.NoError(t, err)
	r := tracing.traceReconciles("reconcile", reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	}))
	before := runtime.NumGoroutine()
	for range many {
		_, err := r.Reconcile(t.Context(), reconcile.Request{})
		require.NoError(t, err)
	}
	assert.Less(t, runtime.NumGoroutine()-before, many/2, "reconciles have ended, and goroutines of theirs have not")
}
