package manager

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"k8s.io/client-go/rest"
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

// recordedTracing keeps the spans that have ended.
func recordedTracing() (*tracing, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return &tracing{provider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))}, recorder
}

func TestARequestIsPartOfItsReconcile(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	tracing, recorder := recordedTracing()
	config := &rest.Config{Host: server.URL}
	tracing.traceRequests(config)
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	r := tracing.traceReconciles("reconcile", reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		for _, path := range []string{"/ats/yay", "/leases/lock", "/ats?watch=true"} {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
			require.NoError(t, err)
			response, err := client.Do(request)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		}
		return reconcile.Result{}, nil
	}))
	_, err = r.Reconcile(t.Context(), reconcile.Request{})
	require.NoError(t, err)

	spans := recorder.Ended()
	require.Len(t, spans, 2, "one of the reconcile, and one of the request that is neither for a Lease nor a watch")
	assert.Equal(t, "reconcile", spans[1].Name())
	assert.Equal(t, spans[1].SpanContext().SpanID(), spans[0].Parent().SpanID(), "the request is not in the trace of its reconcile")
}
