package alerts

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// installation is a program with alerts, dashboards and runbooks.
type installation struct {
	folder  string // in the repository
	files   fs.FS
	exposed string // what it is known to tell. That it does, its own tests say.
	cases   map[string]alertCase
}

// installations are all of them, by the names of their jobs. These tests read a part of them, which
// is of other modules: see tools/inputs.
func installations() map[string]installation {
	_ = []string{
		"../../config/prometheus", "../../config/dashboards", "../../runbooks",
		"../../../05-crd-operator/postgres/config/prometheus", "../../../05-crd-operator/postgres/config/dashboards", "../../../05-crd-operator/postgres/runbooks",
	}
	_ = os.Getenv("TEST_INPUTS")
	return map[string]installation{
		"cnat-manager":      {"06-shipping", os.DirFS("../.."), managerExposed, managerCases},
		"postgres-operator": {"05-crd-operator/postgres", os.DirFS(filepath.Join("../../..", "05-crd-operator/postgres")), postgresExposed, postgresCases},
	}
}

// An alertCase is what happened, and which alert fires then.
type alertCase struct {
	alert   string
	history string // a value a minute
	at      time.Duration
	fires   []string // the descriptions
}

const at10 = 10 * time.Minute

var managerCases = map[string]alertCase{
	"nothing of the manager is known": {
		"CnatManagerDown", `up{job="other"} 1x10`, at10,
		[]string{"For five minutes, Prometheus could read the metrics of no cnat-manager. No At is started and no drift is repaired."},
	},
	"the manager has stopped answering": {
		"CnatManagerDown", `up{job="cnat-manager", pod="a"} 1x4 0x6`, at10,
		[]string{"For five minutes, Prometheus could read the metrics of no cnat-manager. No At is started and no drift is repaired."},
	},
	"the manager has been away for four minutes": {
		"CnatManagerDown", `up{job="cnat-manager", pod="a"} 1x4 0x6`, 9 * time.Minute, nil,
	},
	"one of two managers is down": {
		"CnatManagerDown", `
			up{job="cnat-manager", pod="a"} 0x10
			up{job="cnat-manager", pod="b"} 1x10`, at10, nil,
	},

	"both managers stand by": {
		"CnatNoLeader", `
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x4 0x6
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x10`, at10,
		[]string{"Managers run, but none of them has the Lease, so none works. No At is started and no drift is repaired."},
	},
	"nobody has taken over yet": {
		"CnatNoLeader", `
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x4 0x6
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x10`, 6 * time.Minute, nil,
	},
	"the other manager has taken over": {
		"CnatNoLeader", `
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x4 0x6
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x5 1x5`, at10, nil,
	},
	"there is no election": {
		"CnatNoLeader", `up{job="cnat-manager"} 1x10`, at10, nil,
	},

	"two managers have the Lease": {
		"CnatTwoLeaders", `
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x4 1x6`, at10,
		[]string{"For two minutes, 2 managers in cnat-system have worked at the same time. Each At still gets one pod only, but everything else is done more than once."},
	},
	"two managers elect no leader": {
		"CnatTwoLeaders", `
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10`, at10,
		[]string{"For two minutes, 2 managers in cnat-system have worked at the same time. Each At still gets one pod only, but everything else is done more than once."},
	},
	"a leader that was paused goes on for a moment": {
		"CnatTwoLeaders", `
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x5 0 1x4
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x5 _ 1 0x3
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x5 1x5`, 7 * time.Minute, nil,
	},
	"there are a leader and a standby": {
		"CnatTwoLeaders", `
			up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			up{job="cnat-manager", namespace="cnat-system", pod="b"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-system", pod="b"} 0x10`, at10, nil,
	},
	"there is one manager, which elects no leader": {
		"CnatTwoLeaders", `up{job="cnat-manager", namespace="cnat-system", pod="a"} 1x10`, at10, nil,
	},
	"each team has a manager of its own": {
		"CnatTwoLeaders", `
			up{job="cnat-manager", namespace="cnat-a", pod="a"} 1x10
			up{job="cnat-manager", namespace="cnat-b", pod="b"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-a", pod="a"} 1x10
			leader_election_master_status{job="cnat-manager", namespace="cnat-b", pod="b"} 1x10`, at10, nil,
	},

	"an At is due and is not started": {
		"CnatStartOverdue", `
			cnat_start_overdue_seconds{job="cnat-manager", namespace="cnat-system", pod="a"} 0x4 60+60x5
			cnat_start_overdue_seconds{job="cnat-manager", namespace="cnat-system", pod="b"} 0x4 59+60x5`, at10,
		[]string{"For 6m 0s, an At has been due, and its pod is not created."},
	},
	"an At was started a minute and a half late": {
		"CnatStartOverdue", `cnat_start_overdue_seconds{job="cnat-manager", namespace="cnat-system", pod="a"} 0x4 30 90 0x4`, 6 * time.Minute, nil,
	},
	"no At is due": {
		"CnatStartOverdue", `cnat_start_overdue_seconds{job="cnat-manager", namespace="cnat-system", pod="a"} 0x10`, at10, nil,
	},

	"a command was started after more than a minute": {
		"CnatStartsLate", `
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="60"} 7x30
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="a"} 7x24 8x6`, 30 * time.Minute,
		[]string{"In the last 15 minutes, 1 commands were started by a more than a minute after they were due."},
	},
	"the same, read by Prometheus 3": {
		"CnatStartsLate", `
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="60.0"} 7x30
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="a"} 7x24 8x6`, 30 * time.Minute,
		[]string{"In the last 15 minutes, 1 commands were started by a more than a minute after they were due."},
	},
	"a manager comes back after a long time and starts what was left": {
		"CnatStartsLate", `
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="b", le="60"} _x8 1x2
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="b"} _x8 4x2`, at10,
		[]string{"In the last 15 minutes, 3 commands were started by b more than a minute after they were due."},
	},
	"the same, read by Prometheus 3 as well": {
		"CnatStartsLate", `
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="b", le="60.0"} _x8 1x2
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="b"} _x8 4x2`, at10,
		[]string{"In the last 15 minutes, 3 commands were started by b more than a minute after they were due."},
	},
	"all commands were started within a minute": {
		"CnatStartsLate", `
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="30"} 0x10
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="60"} 0+5x10
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="a"} 0+5x10`, at10, nil,
	},
	"a late start was long ago": {
		"CnatStartsLate", `
			cnat_start_lateness_seconds_bucket{job="cnat-manager", pod="a", le="60"} 0x40
			cnat_start_lateness_seconds_count{job="cnat-manager", pod="a"} 0x3 1x37`, 40 * time.Minute, nil,
	},

	"keys wait and no pass ends": {
		"CnatQueueStuck", `
			workqueue_depth{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", priority="0"} 3x15
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", result="success"} 9x15`, 15 * time.Minute,
		[]string{"In cnat-system/a, 3 keys wait for settings, and no reconcile has ended for ten minutes."},
	},
	"keys wait because there is much to do": {
		"CnatQueueStuck", `
			workqueue_depth{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings"} 300x15
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", result="success"} 0+7x15`, 15 * time.Minute, nil,
	},
	"keys have waited for a moment": {
		"CnatQueueStuck", `
			workqueue_depth{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings"} 3x15
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", result="success"} 9x15`, 5 * time.Minute, nil,
	},
	"there is nothing to do": {
		"CnatQueueStuck", `
			workqueue_depth{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings"} 0x15
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", pod="a", controller="settings", result="success"} 7x15`, 15 * time.Minute, nil,
	},

	"one pass in four fails": {
		"CnatReconcileErrors", `
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="success"} 0+3x20
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="error"} 0+1x20
			controller_runtime_reconcile_errors_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime"} 0+1x20`, 20 * time.Minute,
		[]string{"For ten minutes, 25% of the reconciles of controllerruntime in cnat-system have failed."},
	},
	"for a few minutes, one pass in four fails": {
		"CnatReconcileErrors", `
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="success"} 0+3x20
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="error"} 0+1x20
			controller_runtime_reconcile_errors_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime"} 0+1x20`, 9 * time.Minute, nil,
	},
	"a pass fails now and then": {
		"CnatReconcileErrors", `
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="success"} 0+99x20
			controller_runtime_reconcile_errors_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime"} 0+1x20`, 20 * time.Minute, nil,
	},
	"there are no passes": {
		"CnatReconcileErrors", `
			controller_runtime_reconcile_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime", result="success"} 5x20
			controller_runtime_reconcile_errors_total{job="cnat-manager", namespace="cnat-system", controller="controllerruntime"} 5x20`, 20 * time.Minute, nil,
	},

	"something writes a ConfigMap again and again": {
		"CnatDriftStorm", `settings_drift_repairs_total{job="cnat-manager", namespace="cnat-system", pod="a"} 0+6x20`, 20 * time.Minute,
		[]string{"In ten minutes, 60 repairs of ConfigMaps were made. Something else writes them again and again."},
	},
	"somebody has edited a few ConfigMaps": {
		"CnatDriftStorm", `settings_drift_repairs_total{job="cnat-manager", namespace="cnat-system", pod="a"} 0x8 0+3x4 12x8`, 20 * time.Minute, nil,
	},
	"somebody has rolled back many ConfigMaps at once": {
		"CnatDriftStorm", `settings_drift_repairs_total{job="cnat-manager", namespace="cnat-system", pod="a"} 0x16 100x4`, 20 * time.Minute, nil,
	},
}

func TestAlertsFireWhenTheyShould(t *testing.T) {
	for job, i := range installations() {
		rules, err := Rules(i.files)
		require.NoError(t, err)
		byName := map[string]Rule{}
		for _, rule := range rules {
			byName[rule.Alert] = rule
		}
		require.Len(t, byName, len(rules), "two alerts have one name")
		for name, s := range i.cases {
			t.Run(job+": "+name, func(t *testing.T) {
				require.Contains(t, byName, s.alert)
				assert.Equal(t, s.fires, firing(t, byName[s.alert], parseHistory(t, s.history), s.at))
			})
		}
	}
}

func TestEachAlertHasBothKindsOfCases(t *testing.T) {
	for _, i := range installations() {
		rules, err := Rules(i.files)
		require.NoError(t, err)
		fires, silent := map[string]bool{}, map[string]bool{}
		for _, s := range i.cases {
			if s.fires == nil {
				silent[s.alert] = true
			} else {
				fires[s.alert] = true
			}
		}
		for _, rule := range rules {
			assert.True(t, fires[rule.Alert], "there is no case in which %s fires", rule.Alert)
			assert.True(t, silent[rule.Alert], "there is no case in which %s does not fire", rule.Alert)
		}
	}
}
