package load

import (
	"bytes"
	"context"
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// families are metrics by their names.
type families map[string]*dto.MetricFamily

func parse(text io.Reader) (families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return parsed, nil
}

// scrapeServer reads the metrics of the API server.
func (c *cluster) scrapeServer(ctx context.Context) (families, error) {
	text, err := c.kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of the API server: %w", err)
	}
	return parse(bytes.NewReader(text))
}

// sum adds up the values of a metric, of those that have all of these labels, which are names
// and values in turn. It is 0 if there is none.
func (f families) sum(name string, labels ...string) float64 {
	total := 0.0
	for _, metric := range f[name].GetMetric() {
		if hasLabels(metric, labels) {
			total += metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + metric.GetUntyped().GetValue()
		}
	}
	return total
}

// histogram adds up the sums and the counts of a histogram, as sum does the values of others.
func (f families) histogram(name string, labels ...string) (sum, count float64) {
	for _, metric := range f[name].GetMetric() {
		if hasLabels(metric, labels) {
			sum += metric.GetHistogram().GetSampleSum()
			count += float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return sum, count
}

// minus is what was added to a histogram since another reading.
func (f families) minus(before families, name string, labels ...string) (sum, count float64) {
	sum, count = f.histogram(name, labels...)
	sumBefore, countBefore := before.histogram(name, labels...)
	return sum - sumBefore, count - countBefore
}

func hasLabels(metric *dto.Metric, labels []string) bool {
	found := 0
	for i := 0; i < len(labels); i += 2 {
		for _, pair := range metric.GetLabel() {
			if pair.GetName() == labels[i] && pair.GetValue() == labels[i+1] {
				found++
			}
		}
	}
	return found == len(labels)/2
}

// What a process reports about itself, by the names of Prometheus's Go client.
const (
	liveHeap    = "go_gc_heap_live_bytes" // what the last garbage collection has left
	goroutines  = "go_goroutines"
	descriptors = "process_open_fds"
	residentSet = "process_resident_memory_bytes"
	cpuSeconds  = "process_cpu_seconds_total"
)

// watches is how many the API server serves.
func watches(server families) float64 {
	return server.sum("apiserver_longrunning_requests", "verb", "WATCH")
}

// storage is the size of etcd's file, in MiB.
func storage(server families) float64 { return server.sum("apiserver_storage_size_bytes") / (1 << 20) }
