package main

import (
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // depth, retries and latency of each queue with a name
)

var runtimeSeconds = prometheus.NewDesc("pod_runtime_seconds",
	"For how long the pods of a namespace have been running, all together.", []string{"namespace"}, nil)

// serve answers /metrics and /healthz until stop is called.
func (c *controller) serve(listener net.Listener, synced func() bool) (stop func()) {
	server := &http.Server{Handler: c.handler(synced), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // until Close
	return func() { _ = server.Close() }
}

func (c *controller) handler(synced func() bool) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(prometheus.Gatherers{legacyregistry.DefaultGatherer, registry}, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !synced() {
			http.Error(w, "the cache has not synced yet", http.StatusServiceUnavailable)
		}
	})
	return mux
}

// Describe sends which metrics there will be.
func (c *controller) Describe(descs chan<- *prometheus.Desc) { descs <- runtimeSeconds }

// Collect computes the totals when they are read. They grow all the time: a gauge that is set by
// reconcile would stand still between two events.
func (c *controller) Collect(metrics chan<- prometheus.Metric) {
	for namespace, total := range c.printed.Range {
		metrics <- prometheus.MustNewConstMetric(runtimeSeconds, prometheus.GaugeValue, total.(course).Seconds(), namespace.(string))
	}
}
