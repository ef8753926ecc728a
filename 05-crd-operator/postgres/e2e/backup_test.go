package e2e

import (
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testlong"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// TestBackup makes backups while the size changes, restores to a time, and then loses all disks.
func TestBackup(t *testing.T) {
	testlong.LeftToWorkflows(t)
	t.Parallel()
	e := newEnv(t)
	e.create(name, postgres.PostgresClusterSpec{Size: 3, Backup: &postgres.Backup{
		Schedule: "@every 10s", Keep: 2, Storage: resource.MustParse("1Gi"), ArchiveTimeout: metav1.Duration{Duration: 2 * time.Second}, OnDelete: postgres.Delete,
	}})
	e.settles()
	writer := e.startWriter()
	e.kubectl("wait", "postgrescluster", name, "--for=condition=BackedUp", timeout)
	for _, size := range []int{5, 2, 3} {
		e.isBackedUpNow()
		begun := time.Now()
		e.kubectl("scale", "postgrescluster", name, fmt.Sprintf("--replicas=%d", size))
		e.settles()
		e.isBackedUp(begun)
	}
	e.patch(`"backup":{"schedule":"@every 1h"}`) // or what is restored may be removed meanwhile, if that takes long
	e.restoresTo(writer, e.stateTime(writer))

	to := e.losesAllDisks(writer)
	e.patch(`"paused":false`)
	e.settles()
	e.reports("Seeded", recovery)
	writer.goesOn()
	writer.losesOnlyAfter(to)
	e.deleteCluster()
}

// recovery is what is reported of one: how far it goes, and what is lost.
const recovery = `of base backup \S+ and the log up to [0-9A-F]+/[0-9A-F]+, whose last commit is of .*; ` +
	`(the log was last seen at [0-9A-F]+/[0-9A-F]+: what lies between is lost|what was acknowledged after that is lost, and nothing is known of it)$`

// isBackedUp waits until a base backup was made after a time, and restored on trial.
func (e *env) isBackedUp(after time.Time) {
	e.Helper()
	eventually(e, "there is a new base backup", func() error {
		b := e.status().Backup
		if b == nil || b.LastBackup == nil || b.LastBackup.Before(&metav1.Time{Time: after}) {
			return fmt.Errorf("backups: %+v", b)
		}
		return nil
	})
}

// isBackedUpNow waits until a base backup is being made.
func (e *env) isBackedUpNow() {
	e.Helper()
	eventually(e, "a base backup is made", func() error {
		pod := &corev1.Pod{}
		err := e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: plan.BackupName(name)}, pod)
		if err == nil && pod.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return err
	})
}

// stateTime waits until the archive has a full second of rows, and returns its end.
func (e *env) stateTime(w *writer) time.Time {
	e.Helper()
	w.goesOn()
	// luck: it is waited for
	then := time.Now().Truncate(time.Second).Add(time.Second)
	e.archived(then)
	return then
}

// archived waits until all that was acknowledged by a time can be restored.
func (e *env) archived(then time.Time) time.Time {
	e.Helper()
	var to time.Time
	eventually(e, "the log is archived", func() error {
		b := e.status().Backup
		if b == nil || b.Restorable == nil || b.Restorable.To.Time.Before(then) {
			return fmt.Errorf("backups: %+v", b)
		}
		to = b.Restorable.To.Time
		return nil
	})
	return to
}

// restoresTo makes another cluster with what was there at a time, and deletes it.
func (e *env) restoresTo(w *writer, then time.Time) {
	e.Helper()
	const other = "other"
	e.create(other, postgres.PostgresClusterSpec{Size: 2, RestoreFrom: &postgres.RestoreFrom{Cluster: name, Time: &metav1.Time{Time: then}}})
	e.kubectl("wait", "postgrescluster", other, "--for=condition=Redundant", timeout)
	dialer := e.newDialerOf("postgres", other, other)
	var s *session
	eventually(e, "the Service of "+other+" leads to its primary", func() (err error) {
		s, err = dialer.dial(e.Context(), e.addressOf(other))
		return err
	})
	defer s.close()
	rows, err := s.query(e.Context(), "SELECT n FROM rows")
	require.NoError(e, err)
	there := map[int]bool{}
	for _, values := range rows {
		n, err := strconv.Atoi(values[0])
		require.NoError(e, err)
		there[n] = true
	}
	later := 0
	var previous row // was acknowledged before the next one was begun
	for _, row := range w.rows() {
		switch {
		case row.at.Before(then):
			assert.True(e, there[row.n], "%+v was acknowledged before %s, and is not there", row, then)
		case previous.at.After(then):
			assert.False(e, there[row.n], "%+v was begun after %s, and is there", row, then)
			later++
		}
		previous = row
	}
	assert.NotZero(e, later, "rows that were written later")
	e.kubectl("delete", "postgrescluster", other, timeout)
}

// losesAllDisks pauses the cluster, deletes all pods and disks of members, and returns until when
// the archive has all that was acknowledged.
func (e *env) losesAllDisks(w *writer) time.Time {
	e.Helper()
	to := e.archived(time.Now())
	e.pauses()
	w.goesOn()
	for member, pod := range e.pods() {
		require.NoError(e, e.signalAgent(pod, syscall.SIGKILL)) // a primary that is stopped well archives all
		e.deleteDisk(member)
	}
	require.NoError(e, e.client.DeleteAllOf(e.Context(), &corev1.Pod{}, client.InNamespace(e.namespace), client.MatchingLabels{plan.SelectorLabel: name}))
	return to
}

// losesOnlyAfter expects that all is there that was acknowledged until a time.
func (w *writer) losesOnlyAfter(to time.Time) {
	w.Helper()
	for _, row := range w.loses() {
		assert.True(w, row.at.After(to), "%+v is lost, and the archive goes to %s", row, to)
	}
}
