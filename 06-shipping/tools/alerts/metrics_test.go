package alerts

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The metrics that each program is known to have. That it has them, its own tests say.
const (
	managerMetrics = `cnat_ats cnat_manager_info cnat_start_lateness_seconds_bucket cnat_start_lateness_seconds_count
		cnat_start_overdue_seconds settings_drift_repairs_total leader_election_master_status rest_client_requests_total
		controller_runtime_reconcile_errors_total controller_runtime_reconcile_time_seconds_bucket
		controller_runtime_reconcile_total process_cpu_seconds_total process_resident_memory_bytes
		workqueue_depth workqueue_longest_running_processor_seconds`
	postgresMetrics = `postgres_cluster_archive_age_seconds postgres_cluster_backup_age_seconds postgres_cluster_condition
		postgres_cluster_failovers_total postgres_cluster_lag_bytes postgres_cluster_members_ready
		postgres_cluster_members_wanted postgres_cluster_term controller_runtime_reconcile_errors_total
		controller_runtime_reconcile_total leader_election_master_status rest_client_requests_total`
)

func TestTheQueriedMetricsAreKnown(t *testing.T) {
	for job, i := range installations() {
		metrics, err := Metrics(i.files)
		require.NoError(t, err)
		delete(metrics, "up")
		assert.ElementsMatch(t, strings.Fields(i.metrics), slices.Collect(maps.Keys(metrics)), job)
	}
}

func TestExposed(t *testing.T) {
	names, err := Exposed(strings.NewReader("# HELP a What it is.\n# TYPE a gauge\na{b=\"c d\"} 0\n\nb_total 1\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"a": true, "b_total": true}, names)
}

func TestMetricsOfAlertsAndDashboards(t *testing.T) {
	metrics, err := Metrics(aStage(`up`, `rate(a_total[$__rate_interval])`, `label_values(b{x="y"}, z)`))
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{
		"up":      {"alert X"},
		"a_total": {"d.json: inside"},
		"b":       {"d.json: variable v"},
	}, metrics)

	missing, err := Missing(aStage(`up`, `a or a`, `b`), map[string]bool{"b": true})
	require.NoError(t, err)
	assert.Equal(t, []string{"a is not exposed, and queried by d.json: inside"}, missing)
}

// A query for another job has metrics of others, too: each program in Go has a process_resident_memory_bytes.
func TestQueriesAskForOneJobOnly(t *testing.T) {
	for job, i := range installations() {
		all, err := queries(i.files)
		require.NoError(t, err)
		for _, q := range all {
			parsed, err := parser.ParseExpr(q.expr)
			require.NoError(t, err)
			for _, matchers := range parser.ExtractSelectors(parsed) {
				ours := func(m *labels.Matcher) bool { return m.Name == "job" && m.Value == job }
				assert.True(t, slices.ContainsFunc(matchers, ours), "%s: %s", job, q.where)
			}
		}
	}
}

func TestAQueryThatIsNoneIsAnError(t *testing.T) {
	for name, tc := range map[string]struct {
		stage fs.FS
		want  string
	}{
		"in an alert":         {aStage(`up ==`, `a`, `b`), "alert X: the query up ==: 1:6: parse error"},
		"in a panel":          {aStage(`up`, `rate(a)`, `b`), "d.json: inside: the query rate(a): 1:6: parse error"},
		"in a variable":       {aStage(`up`, `a`, `names(b)`), "d.json: variable v: the query"},
		"that asks nothing":   {aStage(`vector(1)`, `a`, `b`), "alert X: the query vector(1) has no metric"},
		"no dashboards":       {withRules("{spec: {groups: [{rules: [{alert: X, expr: up}]}]}}"), "there are no dashboards"},
		"no alerts":           {withRules("{}"), "there are no alerts in config/prometheus/rules.yaml"},
		"no file with alerts": {fstest.MapFS{}, "reading the alerts: open config/prometheus/rules.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Metrics(tc.stage)
			require.ErrorContains(t, err, tc.want)
			assert.NotContains(t, err.Error(), "%!")
		})
	}
}

// withRules is a folder with alerts and no dashboard.
func withRules(rules string) fstest.MapFS {
	return fstest.MapFS{"config/prometheus/rules.yaml": {Data: []byte(rules)}}
}

// aStage is a folder with one alert, and one dashboard with a panel in a row and a
// variable.
func aStage(alert, panel, variable string) fstest.MapFS {
	stage := withRules(`{spec: {groups: [{rules: [{alert: X, expr: '` + alert + `'}]}]}}`)
	stage["config/dashboards/d.json"] = &fstest.MapFile{Data: []byte(`{
		"panels": [{"panels": [{"title": "inside", "targets": [{"expr": "` + panel + `"}]}]}],
		"templating": {"list": [{"name": "v", "type": "query", "query": "` + strings.ReplaceAll(variable, `"`, `\"`) + `"}]}
	}`)}
	return stage
}
