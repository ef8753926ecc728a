package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
)

// metrics are what Prometheus can read at /metrics.
type metrics struct {
	registry *prometheus.Registry
	events   *prometheus.CounterVec
	commands *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "observe_events_total",
			Help: "Events that were observed. One command runs for several events of an object that is waiting.",
		}, []string{"type"}),
		commands: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "observe_command_duration_seconds",
			Help:    "How long the commands took. The type is that of the event, or Names for the command of --names.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 7), // 10 ms to 41 s
		}, []string{"type", "exit_code"}),
	}
	m.registry.MustRegister(m.events, m.commands)
	return m
}

func (m *metrics) count(typ eventType) { m.events.WithLabelValues(string(typ)).Inc() }

// ran counts a run of a command. A child that a signal ended has the code -1.
func (m *metrics) ran(typ eventType, code int, took time.Duration) {
	m.commands.WithLabelValues(string(typ), strconv.Itoa(code)).Observe(took.Seconds())
}

// print writes what /metrics would answer.
func (m *metrics) print(out io.Writer) error {
	families, err := m.registry.Gather()
	for _, family := range families {
		if err == nil {
			_, err = expfmt.MetricFamilyToText(out, family)
		}
	}
	return err
}

// handler serves the metrics, and whether every object is known by now.
func (c *controller) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(c.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !c.handled.HasSynced() {
			http.Error(w, "the cache has not synced yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}

// serve answers until stop is called. An address that is in use is an error at once.
func (c *controller) serve(address string) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: c.handler(), ReadHeaderTimeout: 5 * time.Second}
	if isLoopback(listener.Addr().String()) {
		server.Handler = onlyLoopback(server.Handler)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			c.end(fmt.Errorf("serving metrics: %w", err))
		}
	})
	return func() {
		_ = server.Close()
		running.Wait()
	}, nil
}

// onlyLoopback keeps out a page in a browser of this machine that has had a name of its own lead
// to loopback (DNS rebinding): Host is still that name.
func onlyLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, fmt.Sprintf("this is not %q; ask for it as 127.0.0.1 or localhost", r.Host), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLoopback(hostAndPort string) bool {
	host := (&url.URL{Host: hostAndPort}).Hostname()
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
