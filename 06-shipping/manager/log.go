package manager

import (
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// newLogger writes lines for programs, or for people. The lines of client-go, of
// controller-runtime, of OpenTelemetry and of package log go the same way.
func newLogger(w io.Writer, o Options) logr.Logger {
	var level slog.Level                        // debug is V(4) of Kubernetes
	_ = level.UnmarshalText([]byte(o.LogLevel)) // which was validated; without one it is info
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewJSONHandler(w, options)
	if o.LogFormat == "text" {
		handler = slog.NewTextHandler(w, options)
	}
	log := logr.FromSlogHandler(handler)
	if o.Region != "" {
		log = log.WithValues("region", o.Region)
	}
	klog.SetLogger(log)
	ctrllog.SetLogger(log)
	otel.SetLogger(log)
	slog.SetLogLoggerLevel(slog.LevelError) // package log knows no levels: net/http writes errors to it
	slog.SetDefault(slog.New(logr.ToSlogHandler(log)))
	return log
}
