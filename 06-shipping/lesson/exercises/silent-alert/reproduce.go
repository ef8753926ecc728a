//go:build ignore

// Reproduce lets the engine of Prometheus evaluate the query of CnatManagerDown. It runs in the
// module of the tools: see reproduce.sh.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"

	"example.com/hacking-a-controller/06-shipping/tools/alerts"
)

func main() {
	rules, err := alerts.Rules(os.DirFS(".."))
	if err != nil {
		log.Fatal(err)
	}
	i := slices.IndexFunc(rules, func(rule alerts.Rule) bool { return rule.Alert == "CnatManagerDown" })
	if i < 0 {
		log.Fatal("there is no alert CnatManagerDown")
	}
	fmt.Println(rules[i].Expr)
	up, down := 1.0, 0.0
	for _, tc := range []struct {
		name string
		up   *float64
	}{{"it answers", &up}, {"it does not answer", &down}, {"its namespace is gone", nil}} {
		result, err := evaluate(rules[i].Expr, tc.up)
		if err != nil {
			log.Fatal(err)
		}
		if result == "" {
			fmt.Printf("  %s: no result, so the alert keeps silent\n", tc.name)
		} else {
			fmt.Printf("  %s: a result, so the alert fires\n", tc.name)
		}
	}
}

// evaluate returns the result of a query when Prometheus has read up, or has nothing to read.
func evaluate(expr string, up *float64) (string, error) {
	now := time.Now()
	var read []storage.Series
	if up != nil {
		read = append(read, promql.NewStorageSeries(promql.Series{
			Metric: labels.FromStrings("__name__", "up", "job", "cnat-manager", "namespace", "cnat-system"),
			Floats: []promql.FPoint{{T: now.UnixMilli(), F: *up}},
		}))
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1000, Timeout: time.Minute})
	defer engine.Close()
	all := storage.QueryableFunc(func(int64, int64) (storage.Querier, error) {
		return &storage.MockQuerier{SelectMockFunction: func(bool, *storage.SelectHints, ...*labels.Matcher) storage.SeriesSet {
			return &series{SeriesSet: storage.EmptySeriesSet(), all: read}
		}}, nil
	})
	query, err := engine.NewInstantQuery(context.Background(), all, nil, expr, now)
	if err != nil {
		return "", err
	}
	defer query.Close()
	result := query.Exec(context.Background())
	return result.String(), result.Err
}

// series are all that there are.
type series struct {
	storage.SeriesSet
	all  []storage.Series
	next int
}

func (s *series) Next() bool         { s.next++; return s.next <= len(s.all) }
func (s *series) At() storage.Series { return s.all[s.next-1] }
