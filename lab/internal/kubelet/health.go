package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/server/healthz"

	"example.com/hacking-a-controller/lab/internal/browser"
)

// serveHealth answers /healthz until ctx ends. The kubelet's main port answers
// it too, but only to callers that the API server vouches for, and the lab wants
// to tell a sick kubelet from a sick API server.
func serveHealth(ctx context.Context, address string) error {
	mux := http.NewServeMux()
	healthz.InstallHandler(mux)
	server := &http.Server{Addr: address, Handler: browser.KeepOut(mux), ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the kubelet's health: %w", err)
	}
	return nil
}
