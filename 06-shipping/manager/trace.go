package manager

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// tracing shows where the time of a reconcile goes: a span for the reconcile, and in it
// one for each request to the API server.
type tracing struct {
	provider trace.TracerProvider
	shutdown func(context.Context) error
	ctx      context.Context // for the end, when that of the program has ended
}

// startTracing sends traces to the endpoint, if there is one. The exporter reads the
// variables of OpenTelemetry itself.
func startTracing(ctx context.Context, o Options) (*tracing, error) {
	t := &tracing{provider: noop.NewTracerProvider(), shutdown: func(context.Context) error { return nil }, ctx: context.WithoutCancel(ctx)}
	if o.TraceEndpoint == "" {
		return t, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("sending traces to %s: %w", o.TraceEndpoint, err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		semconv.ServiceName("cnat-manager"), semconv.ServiceVersion(Version), semconv.CloudRegion(o.Region),
	)))
	t.provider, t.shutdown = provider, provider.Shutdown
	return t, nil
}

// stop sends what is left, for three seconds at most: it must not keep the manager from
// ending.
func (t *tracing) stop() {
	ctx, cancel := context.WithTimeout(t.ctx, 3*time.Second)
	defer cancel()
	if err := t.shutdown(ctx); err != nil {
		klog.FromContext(t.ctx).Error(err, "traces are lost")
	}
}

// traceRequests makes a span of each request, except watches, which last for minutes,
// and requests for the Lease, which never end.
func (t *tracing) traceRequests(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return otelhttp.NewTransport(next, otelhttp.WithTracerProvider(t.provider), otelhttp.WithFilter(func(r *http.Request) bool {
			return r.URL.Query().Get("watch") == "" && !strings.Contains(r.URL.Path, "/leases/")
		}))
	})
}

// traceReconciles makes a span of each reconcile: it is middleware around a Reconciler.
func (t *tracing) traceReconciles(name string, next reconcile.Reconciler) reconcile.Reconciler {
	tracer := t.provider.Tracer("manager")
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		ctx, span := tracer.Start(ctx, name, trace.WithAttributes(
			semconv.K8SNamespaceName(req.Namespace), attribute.String("name", req.Name),
			attribute.String("reconcileID", string(controller.ReconcileIDFromContext(ctx))), // as in the log
		))
		defer span.End()
		result, err := next.Reconcile(ctx, req)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		return result, err
	})
}
