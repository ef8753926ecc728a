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
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// tracing shows where the time of a reconcile goes: a span for the reconcile, and in it
// one for each request to the API server.
type tracing struct {
	provider trace.TracerProvider
	shutdown func(context.Context) error
	ctx      context.Context // for what has to be said at the end
}

// startTracing sends traces to the endpoint, if there is one. How, the variables
// say that all programs with OpenTelemetry have in common.
func startTracing(ctx context.Context, o Options) (*tracing, error) {
	t := &tracing{provider: noop.NewTracerProvider(), shutdown: func(context.Context) error { return nil }, ctx: context.WithoutCancel(ctx)}
	if o.TraceEndpoint == "" {
		return t, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("sending traces to %s: %w; correct OTEL_EXPORTER_OTLP_ENDPOINT, or unset it", o.TraceEndpoint, err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		semconv.ServiceName("cnat-manager"), semconv.ServiceVersion(Version), semconv.CloudRegion(o.Region),
	)))
	t.provider, t.shutdown = provider, provider.Shutdown
	return t, nil
}

// stop sends what is left. That must not keep the manager from ending.
func (t *tracing) stop() {
	ctx, cancel := context.WithTimeout(t.ctx, 3*time.Second)
	defer cancel()
	if err := t.shutdown(ctx); err != nil {
		klog.FromContext(t.ctx).Error(err, "traces are lost")
	}
}

// traceRequests makes a span of each request, but for watches, which last for
// minutes, and for those that renew the Lease, which never end.
func (t *tracing) traceRequests(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return otelhttp.NewTransport(next, otelhttp.WithTracerProvider(t.provider), otelhttp.WithFilter(func(r *http.Request) bool {
			return r.URL.Query().Get("watch") == "" && !strings.Contains(r.URL.Path, "/leases/")
		}))
	})
}

// aroundAts makes a span of each reconcile of an At.
func (t *tracing) aroundAts(next reconcile.Reconciler) reconcile.Reconciler {
	return around(t, "reconcile At", next, func(r reconcile.Request) []attribute.KeyValue {
		return []attribute.KeyValue{semconv.K8SNamespaceName(r.Namespace), attribute.String("cnat.at", r.Name)}
	})
}

// aroundSettings makes a span of each reconcile of the layers of a namespace.
func (t *tracing) aroundSettings(next reconcile.Reconciler) reconcile.Reconciler {
	return around(t, "reconcile settings", next, func(r reconcile.Request) []attribute.KeyValue {
		return []attribute.KeyValue{semconv.K8SNamespaceName(r.Namespace)}
	})
}

func around(t *tracing, name string, next reconcile.Reconciler, attributes func(reconcile.Request) []attribute.KeyValue) reconcile.Reconciler {
	tracer := t.provider.Tracer("manager")
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		ctx, span := tracer.Start(ctx, name, trace.WithAttributes(attributes(request)...))
		defer span.End()
		result, err := next.Reconcile(ctx, request)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		return result, err
	})
}
