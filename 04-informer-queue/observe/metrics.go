package observe

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// metrics are what Prometheus can read at /metrics.
type metrics struct {
	registry *prometheus.Registry
	observed *prometheus.CounterVec
	executed *prometheus.SummaryVec
	named    *prometheus.SummaryVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		observed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "observe_counts",
			Help: "Changes that were observed. One command runs for several changes of an object that is waiting.",
		}, []string{"type"}),
		executed: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "observe_exec_durations_milliseconds",
			Help: "How long the commands took.",
		}, []string{"type", "exit_code"}),
		named: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "observe_name_exec_durations_milliseconds",
			Help: "How long the --names commands took.",
		}, []string{"exit_code"}),
	}
	m.registry.MustRegister(m.observed, m.executed, m.named)
	return m
}

func (m *metrics) count(typ eventType) { m.observed.WithLabelValues(string(typ)).Inc() }

// ran counts a run of a command. A child that a signal ended has the code -1.
func (m *metrics) ran(typ eventType, code int, took time.Duration) {
	m.executed.WithLabelValues(string(typ), strconv.Itoa(code)).Observe(milliseconds(took))
}

func (m *metrics) ranNames(code int, took time.Duration) {
	m.named.WithLabelValues(strconv.Itoa(code)).Observe(milliseconds(took))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// print writes what /metrics would answer.
func (m *metrics) print(out io.Writer) error {
	families, err := m.registry.Gather()
	if err != nil {
		return fmt.Errorf("gathering the metrics: %w", err)
	}
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(out, family); err != nil {
			return fmt.Errorf("printing the metrics: %w", err)
		}
	}
	return nil
}
