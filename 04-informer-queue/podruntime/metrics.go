package podruntime

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var runtimeSeconds = prometheus.NewDesc("pod_runtime_seconds",
	"For how long the pods of a namespace have been running, all together.", []string{"namespace"}, nil)

// collector computes the metric when it is read. The value grows all the time; a
// gauge that is set on each event would stand still between two events.
type collector struct {
	totals *totals
	ready  func() error
}

// Describe sends which metrics there will be.
func (c *collector) Describe(descs chan<- *prometheus.Desc) { descs <- runtimeSeconds }

// Collect computes them. Half a sum would be wrong: there is none until the cache
// has synced.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	if c.ready() != nil {
		return
	}
	for namespace, seconds := range c.totals.all(time.Now()) {
		metrics <- prometheus.MustNewConstMetric(runtimeSeconds, prometheus.GaugeValue, seconds, namespace)
	}
}
