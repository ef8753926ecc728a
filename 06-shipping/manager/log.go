package manager

import (
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// newLogger writes lines for programs, or for people. The lines of client-go and
// of controller-runtime go the same way.
func newLogger(w io.Writer, o Options) logr.Logger {
	options := &slog.HandlerOptions{Level: level(o.LogLevel)}
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
	return log
}

// level is the slog level. debug is V(4) of Kubernetes.
func level(name string) slog.Level {
	switch name {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}
