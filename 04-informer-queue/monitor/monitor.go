// Package monitor serves what an operator of a program wants to know of it:
// /metrics for Prometheus, and /healthz for what restarts it.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Listen opens an address, so that a port in use is an error at the start and not a
// line in a log. Without a host, as in ":8080", it takes loopback: a user who wants
// other machines to read the metrics names the host.
func Listen(address string) (net.Listener, error) {
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
	return listener, nil
}

// Serve answers requests until the context ends, and then closes the address. It
// calls healthy for each request to /healthz; an error makes it unhealthy and is the
// answer. On loopback it answers only who asks for loopback.
func Serve(ctx context.Context, listener net.Listener, metrics prometheus.Gatherer, healthy func() error) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if err := healthy(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	var handler http.Handler = mux
	if ip, _, _ := net.SplitHostPort(listener.Addr().String()); isLoopback(ip) {
		handler = onlyLoopback(mux)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics: %w", err)
	}
	return nil
}

// onlyLoopback keeps out a page in a browser of this machine that has had a name of its
// own lead to loopback (DNS rebinding): Host is still that name.
func onlyLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := (&url.URL{Host: r.Host}).Hostname(); !isLoopback(host) {
			http.Error(w, fmt.Sprintf("this is not %q; ask for it as 127.0.0.1 or localhost", r.Host), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
