// Package monitor serves what an operator of a program wants to know of it:
// /metrics for Prometheus, and /healthz for whoever restarts it.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Server is a monitor that listens. Its address is known before it serves, so
// that a port in use is an error at the start and not a line in a log.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// Listen opens the address. Without a host, as in ":8080", it takes loopback:
// whoever wants other machines to read the metrics says so. healthy is asked at
// each request to /healthz; an error makes it unhealthy and is the answer.
func Listen(address string, metrics prometheus.Gatherer, healthy func() error) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w; an address looks like 127.0.0.1:8080 or :8080", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if err := healthy(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return &Server{listener, &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}}, nil
}

// Addr is where the server listens, as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers requests until the context ends, and then closes the address.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.http.Close() })
	defer stop()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics: %w", err)
	}
	return nil
}
