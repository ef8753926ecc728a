package alerts

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// installation is a program with alerts, dashboards and runbooks.
type installation struct {
	folder  string // in the repository
	files   fs.FS
	metrics string
	cases   map[string]map[string]alertCase // of each alert
}

// installations are all of them, by the names of their jobs. These tests read a part of them, which
// is of other modules: see tools/inputs.
func installations() map[string]installation {
	_ = []string{
		"../../config/prometheus", "../../config/dashboards", "../../runbooks",
		"../../../05-crd-operator/postgres/config/prometheus", "../../../05-crd-operator/postgres/config/dashboards",
		"../../../05-crd-operator/postgres/runbooks",
	}
	_ = os.Getenv("TEST_INPUTS")
	return map[string]installation{
		"cnat-manager":      {"06-shipping", os.DirFS("../.."), managerMetrics, managerCases},
		"postgres-operator": {"05-crd-operator/postgres", os.DirFS("../../../05-crd-operator/postgres"), postgresMetrics, postgresCases},
	}
}

// An alertCase is what happened, and what the alert says then.
type alertCase struct {
	history string // a value a minute
	at      time.Duration
	fires   []string // the descriptions
}

const at10 = 10 * time.Minute

var managerCases = map[string]map[string]alertCase{
	"CnatManagerDown": {
		"nothing of the manager is known": {`up{job="other"} 1x10`, at10,
			[]string{"For five minutes, Prometheus could read the metrics of no cnat-manager in cnat-system. No At is started and no drift is repaired."}},
		"the manager has stopped answering": {`up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x4 0x6`, at10,
			[]string{"For five minutes, Prometheus could read the metrics of no cnat-manager in cnat-system. No At is started and no drift is repaired."}},
		"the manager is down, and one in another namespace is up": {`
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 0x10
			up{job="cnat-manager", namespace="cnat-b", pod="b"} 1x10`, at10,
			[]string{"For five minutes, Prometheus could read the metrics of no cnat-manager in cnat-system. No At is started and no drift is repaired."}},
		"the manager has been away for four minutes": {`up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x4 0x6`, 9 * time.Minute, nil},
		"one of two managers is down": {`
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 0x10
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10`, at10, nil},
	},
	"CnatNoLeader": {
		"both managers stand by": {`
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x4 0x6
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x10`, at10,
			[]string{"Managers run, but none of them has the Lease, so none works. No At is started and no drift is repaired."}},
		"nobody has taken over yet": {`
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x4 0x6
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x10`, 6 * time.Minute, nil},
		"the other manager has taken over": {`
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x4 0x6
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x5 1x5`, at10, nil},
		"there is no election": {`up{job="cnat-manager"} 1x10`, at10, nil},
	},
	"CnatTwoLeaders": {
		"two managers have the Lease": {`
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x4 1x6`, at10,
			[]string{"For two minutes, 2 managers in cnat-system have worked at the same time. Each At still gets one pod only, but everything else is done more than once."}},
		"two managers elect no leader": {`
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10`, at10,
			[]string{"For two minutes, 2 managers in cnat-system have worked at the same time. Each At still gets one pod only, but everything else is done more than once."}},
		"a leader that was paused goes on for a moment": {`
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x5 0 1x4
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x5 _ 1 0x3
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x5 1x5`, 7 * time.Minute, nil},
		"there are a leader and a standby": {`
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x10`, at10, nil},
		"there is one manager, which elects no leader": {`up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10`, at10, nil},
		"each team has a manager of its own": {`
			up{job="cnat-manager", namespace="cnat-a", pod="a"} 1x10
			up{job="cnat-manager", namespace="cnat-b", pod="b"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-a", pod="a"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-b", pod="b"} 1x10`, at10, nil},
	},
	"CnatStartOverdue": {
		"an At is due and is not started": {`
			cnat_start_overdue_seconds{job="cnat-manager", pod="a"} 0x4 60+60x5
			cnat_start_overdue_seconds{job="cnat-manager", pod="b"} 0x4 59+60x5`, at10,
			[]string{"For 6m 0s, an At has been due, and its pod is not created."}},
		"an At was started a minute and a half late": {`cnat_start_overdue_seconds{job="cnat-manager", pod="a"} 0x4 30 90 0x4`, 6 * time.Minute, nil},
		"no At is due": {`cnat_start_overdue_seconds{job="cnat-manager", pod="a"} 0x10`, at10, nil},
	},
	"CnatStartsLate": {
		"a command was started after more than a minute": {`
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="60"} 7x30
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="a"} 7x24 8x6`, 30 * time.Minute,
			[]string{"In the last 15 minutes, 1 commands were started by a more than a minute after they were due."}},
		"a manager comes back after a long time and starts what was left": {`
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="b", le="60"} _x8 1x2
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="b"} _x8 4x2`, at10,
			[]string{"In the last 15 minutes, 3 commands were started by b more than a minute after they were due."}},
		"all commands were started within a minute": {`
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="30"} 0x10
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="60"} 0+5x10
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="a"} 0+5x10`, at10, nil},
		"a late start was long ago": {`
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="60"} 0x40
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="a"} 0x3 1x37`, 40 * time.Minute, nil},
	},
	"CnatQueueStuck": {
		"keys wait and no pass ends": {`
			workqueue_depth{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", priority="0"} 3x15
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", result="success"} 9x15`, 15 * time.Minute,
			[]string{"In cnat-system/a, 3 keys wait for settings, and no reconcile has ended for ten minutes."}},
		"keys wait because there is much to do": {`
			workqueue_depth{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings"} 300x15
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", result="success"} 0+7x15`, 15 * time.Minute, nil},
		"keys have waited for a moment": {`
			workqueue_depth{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings"} 3x15
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", result="success"} 9x15`, 5 * time.Minute, nil},
		"there is nothing to do": {`
			workqueue_depth{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings"} 0x15
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", result="success"} 7x15`, 15 * time.Minute, nil},
	},
	"CnatReconcileErrors": {
		"one pass in four fails": {`
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="success"} 0+3x20
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="error"} 0+1x20
			controller_runtime_reconcile_errors_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime"} 0+1x20`, 20 * time.Minute,
			[]string{"For ten minutes, 25% of the reconciles of controllerruntime in cnat-system have failed."}},
		"for a few minutes, one pass in four fails": {`
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="success"} 0+3x20
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="error"} 0+1x20
			controller_runtime_reconcile_errors_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime"} 0+1x20`, 9 * time.Minute, nil},
		"a pass fails now and then": {`
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="success"} 0+99x20
			controller_runtime_reconcile_errors_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime"} 0+1x20`, 20 * time.Minute, nil},
		"there are no passes": {`
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="success"} 5x20
			controller_runtime_reconcile_errors_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime"} 5x20`, 20 * time.Minute, nil},
	},
	"CnatDriftStorm": {
		"something writes a ConfigMap again and again": {`settings_drift_repairs_total{job="cnat-manager", pod="a"} 0+6x20`, 20 * time.Minute,
			[]string{"In ten minutes, 60 repairs of ConfigMaps were made. Something else writes them again and again."}},
		"somebody has edited a few ConfigMaps":             {`settings_drift_repairs_total{job="cnat-manager", pod="a"} 0x8 0+3x4 12x8`, 20 * time.Minute, nil},
		"somebody has rolled back many ConfigMaps at once": {`settings_drift_repairs_total{job="cnat-manager", pod="a"} 0x16 100x4`, 20 * time.Minute, nil},
	},
}

func TestAlertsFireWhenTheyShould(t *testing.T) {
	for job, i := range installations() {
		rules, err := Rules(i.files)
		require.NoError(t, err)
		require.Len(t, i.cases, len(rules), "an alert has no cases, or two have one name")
		for _, rule := range rules {
			fires, silent := false, false
			for name, tc := range i.cases[rule.Alert] {
				t.Run(job+": "+name, func(t *testing.T) {
					assert.Equal(t, tc.fires, firing(t, rule, parseHistory(t, tc.history), tc.at))
					// Prometheus 3 writes the bounds of a histogram with a fraction.
					byThree := strings.ReplaceAll(tc.history, `le="60"`, `le="60.0"`)
					assert.Equal(t, tc.fires, firing(t, rule, parseHistory(t, byThree), tc.at))
				})
				fires, silent = fires || tc.fires != nil, silent || tc.fires == nil
			}
			assert.True(t, fires, "there is no case in which %s fires", rule.Alert)
			assert.True(t, silent, "there is no case in which %s does not fire", rule.Alert)
		}
	}
}
