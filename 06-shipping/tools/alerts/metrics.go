package alerts

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// Metrics are the names of all metrics in the queries of all alerts and dashboards,
// each with the places that have them. The stage is the folder 06-shipping. An
// error names the first query that is none.
func Metrics(stage fs.FS) (map[string][]string, error) {
	all, err := queries(stage)
	if err != nil {
		return nil, err
	}
	metrics := map[string][]string{}
	for _, q := range all {
		names, err := namesIn(q.expr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.where, err)
		}
		for _, name := range names {
			metrics[name] = append(metrics[name], q.where)
		}
	}
	return metrics, nil
}

// Missing is a sentence for each metric that an alert or a dashboard queries and
// that is not exposed. What is exposed, Exposed reads.
func Missing(stage fs.FS, exposed map[string]bool) ([]string, error) {
	metrics, err := Metrics(stage)
	if err != nil {
		return nil, err
	}
	var missing []string
	for name, places := range metrics {
		if !exposed[name] && name != "up" { // Prometheus itself says what is up
			missing = append(missing, fmt.Sprintf("%s is not exposed, and queried by %s", name, strings.Join(places, ", ")))
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// Exposed are the names in what a program answers to GET /metrics. A histogram has
// three: NAME_bucket, NAME_sum and NAME_count.
func Exposed(text io.Reader) (map[string]bool, error) {
	names := map[string]bool{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if name, _, _ := strings.Cut(lines.Text(), " "); name != "" && name != "#" {
			name, _, _ = strings.Cut(name, "{")
			names[name] = true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return names, nil
}

// queries are those of all alerts and dashboards.
func queries(stage fs.FS) ([]query, error) {
	rules, err := Rules(stage)
	if err != nil {
		return nil, err
	}
	all, err := dashboards(stage)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		all = append(all, query{"alert " + rule.Alert, rule.Expr})
	}
	return all, nil
}

// namesIn are the names of the metrics in a query.
func namesIn(expr string) ([]string, error) {
	parsed, err := parser.ParseExpr(expr)
	if err != nil {
		return nil, fmt.Errorf("the query %s: %w", expr, err)
	}
	var names []string
	for _, matchers := range parser.ExtractSelectors(parsed) {
		for _, m := range matchers {
			if m.Name == model.MetricNameLabel && !slices.Contains(names, m.Value) {
				names = append(names, m.Value)
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the query %s has no metric", expr)
	}
	return names, nil
}
