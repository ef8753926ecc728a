package operator

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// newCollector has the figures of these clusters, an hour after they were created.
func newCollector(t *testing.T, clusters ...client.Object) *collector {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, postgres.AddToScheme(scheme))
	return &collector{
		clusters: fake.NewClientBuilder().WithScheme(scheme).WithObjects(clusters...).Build(),
		clock:    clocktesting.NewFakePassiveClock(midnight.Add(time.Hour)),
		lags:     &sync.Map{},
	}
}

var midnight = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

func backedUp(name string, size int32, status postgres.PostgresClusterStatus) *postgres.PostgresCluster {
	return &postgres.PostgresCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(midnight)},
		Spec:       postgres.PostgresClusterSpec{Size: size, Backup: &postgres.Backup{Schedule: "@every 1h"}},
		Status:     status,
	}
}

func TestTheFiguresOfACluster(t *testing.T) {
	before := func(d time.Duration) metav1.Time { return metav1.NewTime(midnight.Add(time.Hour - d)) }
	last := before(20 * time.Minute)
	db := backedUp("db", 3, postgres.PostgresClusterStatus{
		Term: 3, Replicas: 2,
		Backup:     &postgres.BackupStatus{LastBackup: &last, Restorable: &postgres.Restorable{From: last, To: before(3 * time.Second)}},
		Conditions: []metav1.Condition{{Type: "Available", Status: "True"}, {Type: "Redundant", Status: "False"}},
	})
	c := newCollector(t, db)
	c.lags.Store(client.ObjectKeyFromObject(db), map[string]plan.LSN{"db-2": 42})
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP postgres_cluster_archive_age_seconds How old the newest moment is to which the database can be restored. Only of clusters that have a backup.
# TYPE postgres_cluster_archive_age_seconds gauge
postgres_cluster_archive_age_seconds{name="db",namespace="shop"} 3
# HELP postgres_cluster_backup_age_seconds For how long there has been no newer base backup, or, if there is none, since the cluster was created. Only of clusters that want backups.
# TYPE postgres_cluster_backup_age_seconds gauge
postgres_cluster_backup_age_seconds{name="db",namespace="shop"} 1200
# HELP postgres_cluster_condition 1 if a condition of the cluster is True, else 0.
# TYPE postgres_cluster_condition gauge
postgres_cluster_condition{condition="Available",name="db",namespace="shop"} 1
postgres_cluster_condition{condition="Redundant",name="db",namespace="shop"} 0
# HELP postgres_cluster_failovers_total How many elections there were, switchovers too.
# TYPE postgres_cluster_failovers_total counter
postgres_cluster_failovers_total{name="db",namespace="shop"} 2
# HELP postgres_cluster_lag_bytes How much of the log of the primary a standby has not received.
# TYPE postgres_cluster_lag_bytes gauge
postgres_cluster_lag_bytes{member="db-2",name="db",namespace="shop"} 42
# HELP postgres_cluster_members_ready How many members answer queries.
# TYPE postgres_cluster_members_ready gauge
postgres_cluster_members_ready{name="db",namespace="shop"} 2
# HELP postgres_cluster_members_wanted How many members are wanted.
# TYPE postgres_cluster_members_wanted gauge
postgres_cluster_members_wanted{name="db",namespace="shop"} 3
# HELP postgres_cluster_term The term.
# TYPE postgres_cluster_term gauge
postgres_cluster_term{name="db",namespace="shop"} 3
`)))
}

// The alert has to fire for a cluster that was never backed up, too.
func TestTheAgeOfABackupThatNeverWas(t *testing.T) {
	young, none := backedUp("young", 1, postgres.PostgresClusterStatus{}), backedUp("none", 1, postgres.PostgresClusterStatus{})
	none.Spec.Backup = nil
	c := newCollector(t, young, none)
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
# HELP postgres_cluster_backup_age_seconds For how long there has been no newer base backup, or, if there is none, since the cluster was created. Only of clusters that want backups.
# TYPE postgres_cluster_backup_age_seconds gauge
postgres_cluster_backup_age_seconds{name="young",namespace="shop"} 3600
`), "postgres_cluster_backup_age_seconds"))
	assert.Zero(t, testutil.CollectAndCount(c, "postgres_cluster_archive_age_seconds"))
	assert.Equal(t, 2, testutil.CollectAndCount(c, "postgres_cluster_failovers_total"))
}

func TestACacheThatIsNotFullIsAnError(t *testing.T) {
	c := newCollector(t)
	c.clusters = interceptor.NewClient(c.clusters.(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("not yet")
		},
	})
	require.ErrorContains(t, testutil.CollectAndCompare(c, strings.NewReader("")), "not yet")
}
