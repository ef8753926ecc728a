package alerts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/stretchr/testify/require"
)

// step is how often metrics are read and rules are evaluated here.
const step = time.Minute

var start = time.Unix(0, 0).UTC()

// history is what Prometheus has read.
type history []promql.Series

// parseHistory reads series in the notation of Prometheus's own tests: a series,
// and its values one after the other, one for each step. 0+2x3 is 0 2 4 6, and _ is
// none.
func parseHistory(t *testing.T, text string) history {
	t.Helper()
	var all history
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		metric, values, err := parser.ParseSeriesDesc(line)
		require.NoError(t, err, line)
		series := promql.Series{Metric: metric}
		for i, value := range values {
			if !value.Omitted {
				series.Floats = append(series.Floats, promql.FPoint{T: start.Add(time.Duration(i) * step).UnixMilli(), F: value.Value})
			}
		}
		all = append(all, series)
	}
	return all
}

// Querier makes a history what the engine queries.
func (h history) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		found := &found{SeriesSet: storage.EmptySeriesSet()}
		for _, series := range h {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Metric.Get(m.Name)) }) {
				found.series = append(found.series, promql.NewStorageSeries(series))
			}
		}
		return found
	}}, nil
}

// found is a set of series that are all there: it has no errors and no warnings.
type found struct {
	storage.SeriesSet
	series []storage.Series
	next   int
}

func (f *found) Next() bool         { f.next++; return f.next <= len(f.series) }
func (f *found) At() storage.Series { return f.series[f.next-1] }

// firing evaluates an alert at each step, as Prometheus does, and returns the
// description of each that fires at the end: its query has had the result at each
// step for as long as the alert waits.
func firing(t *testing.T, rule Rule, h history, end time.Duration) []string {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 100_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	ask := func(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
		query, err := engine.NewInstantQuery(ctx, h, nil, expr, at)
		if err != nil {
			return nil, err
		}
		defer query.Close()
		result, err := query.Exec(ctx).Vector()
		return slices.Clone(result), err
	}
	pending, err := model.ParseDuration(cmp.Or(rule.For, "0s"))
	require.NoError(t, err)

	since := map[string]time.Time{}
	var fires []string
	for at := start; !at.After(start.Add(end)); at = at.Add(step) {
		result, err := ask(t.Context(), rule.Expr, at)
		require.NoError(t, err)
		before := maps.Clone(since)
		clear(since)
		fires = nil
		for _, sample := range result {
			key := sample.Metric.String()
			since[key] = at
			if began, ok := before[key]; ok {
				since[key] = began
			}
			if at.Sub(since[key]) >= time.Duration(pending) {
				fires = append(fires, expand(t, rule, sample, at, ask))
			}
		}
	}
	slices.Sort(fires)
	return fires
}

// expand puts the values into the description, and fails if it cannot.
func expand(t *testing.T, rule Rule, sample promql.Sample, at time.Time, ask template.QueryFunc) string {
	t.Helper()
	data := template.AlertTemplateData(sample.Metric.Map(), nil, "", sample)
	const variables = "{{$labels := .Labels}}{{$value := .Value}}"
	expanded := map[string]string{}
	for name, text := range rule.Annotations {
		var err error
		expanded[name], err = template.NewTemplateExpander(t.Context(), variables+text, rule.Alert, data, model.Time(at.UnixMilli()), ask, nil, []string{"missingkey=error"}).Expand()
		require.NoError(t, err, "%s of %s", name, rule.Alert)
		require.NotContains(t, expanded[name], "<no value>")
	}
	return expanded["description"]
}
