package alerts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// query is a question to Prometheus, and where it stands.
type query struct{ where, expr string }

// panel is a part of a dashboard, as far as it has queries. A row has panels.
type panel struct {
	Title   string   `json:"title"`
	Targets []target `json:"targets"`
	Panels  []panel  `json:"panels"`
}

type target struct {
	Expr string `json:"expr"`
}

// dashboards are the queries of all dashboards.
func dashboards(stage fs.FS) ([]query, error) {
	files, err := fs.Glob(stage, "config/dashboards/*.json")
	if err != nil || len(files) == 0 {
		return nil, errors.New("there are no dashboards in config/dashboards/")
	}
	var all []query
	for _, file := range files {
		content, err := fs.ReadFile(stage, file)
		if err != nil {
			return nil, fmt.Errorf("reading a dashboard: %w", err)
		}
		var dashboard struct {
			panel
			Templating struct {
				List []struct {
					Name  string `json:"name"`
					Type  string `json:"type"`
					Query string `json:"query"`
				} `json:"list"`
			} `json:"templating"`
		}
		if err := json.Unmarshal(content, &dashboard); err != nil {
			return nil, fmt.Errorf("reading the dashboard %s: %w", file, err)
		}
		where := path.Base(file)
		all = append(all, dashboard.queries(where)...)
		for _, variable := range dashboard.Templating.List {
			if variable.Type == "query" {
				all = append(all, query{where + ": variable " + variable.Name, labelValues(variable.Query)})
			}
		}
	}
	return all, nil
}

func (p panel) queries(where string) []query {
	var all []query
	for _, t := range p.Targets {
		all = append(all, query{where + ": " + p.Title, withoutVariables.Replace(t.Expr)})
	}
	for _, inner := range p.Panels {
		all = append(all, inner.queries(where)...)
	}
	return all
}

// Grafana puts in values before it sends a query.
var withoutVariables = strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*")

var labelValuesOf = regexp.MustCompile(`label_values\((.*),\s*\w+\)`)

// labelValues is the query in label_values(QUERY, LABEL), which Grafana knows and
// Prometheus does not.
func labelValues(function string) string {
	match := labelValuesOf.FindStringSubmatch(function)
	if match == nil {
		return function // which does not parse, and somebody will be told
	}
	return match[1]
}
