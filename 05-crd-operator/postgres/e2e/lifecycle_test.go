package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// TestLifecycle does with one cluster what people do with theirs, while a writer goes on.
func TestLifecycle(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newCluster(t)
	e.refusesVersion()
	writer, watcher := e.startWriter(), e.startWatcher()
	watcher.sees(e.status().PrimaryUID)

	e.switchesOver(writer)
	writer.goesOn()
	for _, size := range []int{5, 2, 1, 3} {
		e.kubectl("scale", "postgrescluster", name, fmt.Sprintf("--replicas=%d", size))
		watcher.sees(e.settles().PrimaryUID)
		writer.goesOn()
	}
	e.changesPassword(writer)
	e.restartsInPlace()
	writer.goesOn()
	e.replacesDisk(standbys(e.status())[1])
	watcher.sees(e.settles().PrimaryUID)
	writer.goesOn()
	e.updates(writer)
	watcher.sees(e.status().PrimaryUID)
	writer.goesOn()
	assert.Empty(t, writer.loses(), "acknowledged rows that are lost")
	e.deleteCluster()
}

// refusesVersion wants a PostgreSQL that the image has not.
func (e *env) refusesVersion() {
	e.Helper()
	const other = "other"
	e.create(other, postgres.PostgresClusterSpec{Size: 1, Version: "99"})
	e.kubectl("wait", "postgrescluster", other, "--for=condition=Accepted=False", timeout)
	cluster := &postgres.PostgresCluster{}
	require.NoError(e, e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: other}, cluster))
	assert.Equal(e, "VersionNotInImage", meta.FindStatusCondition(cluster.Status.Conditions, postgres.Accepted).Reason)
	assert.Empty(e, cluster.Status.Phase)
	e.kubectl("delete", "postgrescluster", other, timeout)
}

// switchesOver wants another primary, which lacks what was acknowledged lately, and receives
// nothing. It is promoted once it has that, and not before.
func (e *env) switchesOver(w *writer) {
	e.Helper()
	var wish string
	var thaw func()
	eventually(e, "a standby is frozen", func() (err error) {
		others := standbys(e.status())
		if len(others) < 2 {
			return errors.New("a member is missing")
		}
		wish = others[1]
		thaw, err = e.freezeReceiver(e.pods()[wish])
		return err
	})
	w.goesOn()
	e.patch(fmt.Sprintf(`"primary":%q`, wish))
	eventually(e, "the primary has given up on "+wish, func() error {
		found, err := w.ask(e.Context(), fmt.Sprintf("SELECT count(*) FROM pg_stat_replication WHERE application_name = '%s'", wish))
		if err == nil && found[0][0] != "0" {
			err = errors.New("it streams")
		}
		return err
	})
	now := e.status()
	assert.NotEqual(e, wish, now.Primary)
	assert.NotContains(e, now.Synced, wish)
	thaw()
	e.settles()
	e.patch(`"primary":null`)
}

// restartsInPlace loses all pods at once, and no disk.
func (e *env) restartsInPlace() {
	e.Helper()
	pods, disks := e.pods(), e.disks()
	require.NoError(e, e.client.DeleteAllOf(e.Context(), &corev1.Pod{}, client.InNamespace(e.namespace), client.MatchingLabels{plan.SelectorLabel: name}))
	for member, pod := range pods {
		e.replaced(member, pod, e.pods)
	}
	e.settles()
	assert.Equal(e, disks, e.disks())
}

// replacesDisk deletes the disk of a standby, which gets a new one, and its data from the primary.
func (e *env) replacesDisk(member string) {
	e.Helper()
	disk := e.disks()[member]
	e.deleteDisk(member)
	e.replaced(member, disk, e.disks)
}

func (e *env) deleteDisk(member string) {
	e.Helper()
	disk := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: member}}
	require.NoError(e, e.client.Delete(e.Context(), disk))
}
