//go:build try

package manager

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// What the lesson of part 8 asks the reader to write: signals that lead to each other.

// once reconciles once, with a log, and returns what was logged at level info.
func once(ctx context.Context, tracing *tracing, work reconcile.Func) string {
	var lines bytes.Buffer
	ctx = ctrllog.IntoContext(ctx, newLogger(&lines, Options{LogLevel: "info"}))
	_, _ = tracing.traceReconciles("reconcile", work).Reconcile(ctx, reconcile.Request{})
	return lines.String()
}

func TestTryASpanHasThePause(t *testing.T) {
	tracing, recorder := recordedTracing()
	once(t.Context(), tracing, func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{RequeueAfter: 10 * time.Second}, nil
	})
	require.Len(t, recorder.Ended(), 1)
	attributes := map[string]string{}
	for _, a := range recorder.Ended()[0].Attributes() {
		attributes[string(a.Key)] = a.Value.Emit()
	}
	assert.Equal(t, "10s", attributes["requeueAfter"], "the span does not say when the At is looked at again")
}

func TestTryALogLineNamesItsTrace(t *testing.T) {
	tracing, recorder := recordedTracing()
	line := once(t.Context(), tracing, func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		ctrllog.FromContext(ctx).Info("wrote the status")
		return reconcile.Result{}, nil
	})
	require.Len(t, recorder.Ended(), 1)
	assert.Contains(t, line, `"traceID":"`+recorder.Ended()[0].SpanContext().TraceID().String()+`"`, "the log has no traceID")
}

func TestTryASlowReconcileIsLogged(t *testing.T) {
	for name, tc := range map[string]struct {
		took time.Duration
		err  error
		want bool
	}{
		"one of two seconds":            {2 * time.Second, nil, true},
		"one of two seconds that fails": {2 * time.Second, errors.New("no"), true},
		"one of half a second":          {time.Second / 2, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tracing, _ := recordedTracing()
				line := once(t.Context(), tracing, func(context.Context, reconcile.Request) (reconcile.Result, error) {
					time.Sleep(tc.took)
					return reconcile.Result{}, tc.err
				})
				if tc.want {
					assert.Contains(t, line, `"msg":"slow reconcile"`, "the log has no line of a slow reconcile")
				} else {
					assert.NotContains(t, line, "slow reconcile", "a quick one needs no line")
				}
			})
		})
	}
}
