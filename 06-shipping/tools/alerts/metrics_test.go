package alerts

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const managerExposed = `# HELP cnat_ats How many Ats there are, by their phase.
# TYPE cnat_ats gauge
cnat_ats{phase="PENDING"} 0
cnat_manager_info{region="",revision="",version=""} 1
cnat_start_lateness_seconds_bucket{le="60"} 0
cnat_start_lateness_seconds_count 0
cnat_start_overdue_seconds 0
controller_runtime_reconcile_errors_total{controller="settings"} 0
controller_runtime_reconcile_time_seconds_bucket{controller="settings",le="60"} 0
controller_runtime_reconcile_total{controller="settings",result="success"} 0
leader_election_master_status{name="cnat-manager"} 1
process_cpu_seconds_total 1
process_resident_memory_bytes 1e+07
rest_client_requests_total{code="200",host="h",method="GET"} 1
settings_drift_repairs_total 0
workqueue_depth{controller="settings",name="settings",priority=""} 0
workqueue_longest_running_processor_seconds{controller="settings",name="settings"} 0
`

const postgresExposed = `postgres_cluster_archive_age_seconds{namespace="n",name="db"} 1
postgres_cluster_backup_age_seconds{namespace="n",name="db"} 1
postgres_cluster_condition{namespace="n",name="db",condition="Available"} 1
postgres_cluster_failovers_total{namespace="n",name="db"} 0
postgres_cluster_lag_bytes{namespace="n",name="db",member="db-2"} 0
postgres_cluster_members_ready{namespace="n",name="db"} 3
postgres_cluster_members_wanted{namespace="n",name="db"} 3
postgres_cluster_term{namespace="n",name="db"} 1
controller_runtime_reconcile_errors_total{controller="postgres-operator"} 0
controller_runtime_reconcile_total{controller="postgres-operator",result="success"} 0
leader_election_master_status{name="postgres-operator"} 1
rest_client_requests_total{code="200",host="h",method="GET"} 1
`

func TestNoMetricIsMissing(t *testing.T) {
	for job, i := range installations() {
		names, err := Exposed(strings.NewReader(i.exposed))
		require.NoError(t, err)
		missing, err := Missing(i.files, names)
		require.NoError(t, err)
		assert.Empty(t, missing, job)

		// Nothing is in that list that no query has.
		for name := range names {
			fewer, err := Exposed(strings.NewReader(i.exposed))
			require.NoError(t, err)
			delete(fewer, name)
			missing, err := Missing(i.files, fewer)
			require.NoError(t, err)
			require.Len(t, missing, 1, name)
			assert.True(t, strings.HasPrefix(missing[0], name+" is not exposed, and queried by "), missing[0])
		}
	}
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

// foreign are the queries that have metrics of others, too. Each program in Go
// has a process_resident_memory_bytes.
func foreign(t *testing.T, stage fs.FS, job string) []string {
	t.Helper()
	all, err := queries(stage)
	require.NoError(t, err)
	var found []string
	for _, q := range all {
		parsed, err := parser.ParseExpr(q.expr)
		require.NoError(t, err)
		for _, matchers := range parser.ExtractSelectors(parsed) {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return m.Name == "job" && m.Value == job }) {
				found = append(found, q.where)
			}
		}
	}
	return found
}

func TestQueriesAskForOneJobOnly(t *testing.T) {
	for job, i := range installations() {
		assert.Empty(t, foreign(t, i.files, job), job)
	}
	ours := `{job="ours"}`
	assert.Equal(t, []string{"d.json: inside"}, foreign(t, aStage("a"+ours, "b", "d"+ours), "ours"))
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
		"no alerts":           {fstest.MapFS{"config/prometheus/rules.yaml": {Data: []byte("{}")}}, "there are no alerts in config/prometheus/rules.yaml"},
		"no file with alerts": {fstest.MapFS{}, "reading the alerts: open config/prometheus/rules.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Metrics(tc.stage)
			require.ErrorContains(t, err, tc.want)
		})
	}
	noDashboard := aStage("up", "a", "b")
	delete(noDashboard, "config/dashboards/d.json")
	_, err := Metrics(noDashboard)
	require.ErrorContains(t, err, "there are no dashboards")
}

// aStage is a folder with one alert, and one dashboard with a panel in a row and a
// variable.
func aStage(alert, panel, variable string) fstest.MapFS {
	return fstest.MapFS{
		"config/prometheus/rules.yaml": {Data: []byte(`{spec: {groups: [{rules: [{alert: X, expr: '` + alert + `'}]}]}}`)},
		"config/dashboards/d.json": {Data: []byte(`{
			"panels": [{"panels": [{"title": "inside", "targets": [{"expr": "` + panel + `"}]}]}],
			"templating": {"list": [{"name": "v", "type": "query", "query": "` + strings.ReplaceAll(variable, `"`, `\"`) + `"}]}
		}`)},
	}
}
