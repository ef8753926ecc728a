package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// samples are what a program answers to GET /metrics. A histogram has three: NAME_bucket, NAME_sum and NAME_count.
type samples model.Vector

func parse(text io.Reader) (samples, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	vector, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	return samples(vector), err
}

// scrapeServer reads the metrics of the API server.
func (c *cluster) scrapeServer(ctx context.Context) (samples, error) {
	text, err := c.kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of the API server: %w", err)
	}
	return parse(bytes.NewReader(text))
}

// sum adds up the values of a metric, of those that have all of these labels. It is 0 if there is none.
func (s samples) sum(name model.LabelValue, labels model.LabelSet) (total float64) {
	for _, sample := range s {
		matches := sample.Metric[model.MetricNameLabel] == name
		for label, value := range labels {
			matches = matches && sample.Metric[label] == value
		}
		if matches {
			total += float64(sample.Value)
		}
	}
	return total
}

// since is what was added to the sum since another reading.
func (s samples) since(before samples, name model.LabelValue, labels model.LabelSet) float64 {
	return s.sum(name, labels) - before.sum(name, labels)
}

// What a process reports about itself, by the names of Prometheus's Go client.
const (
	liveHeap    = "go_gc_heap_live_bytes" // what the last garbage collection has left
	goroutines  = "go_goroutines"
	descriptors = "process_open_fds"
	residentSet = "process_resident_memory_bytes"
	cpuSeconds  = "process_cpu_seconds_total"
)
