package e2e

import (
	"fmt"
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// TestBothSyncedMembersAreLost loses the primary and the standby that commits wait for together: first their
// pods, then their disks, too.
func TestBothSyncedMembersAreLost(t *testing.T) {
	t.Parallel()
	e := newCluster(t)
	writer, watcher := e.startWriter(), e.startWatcher()
	watcher.sees(e.status().PrimaryUID)

	e.losesBoth()
	e.patch(`"paused":false`)
	watcher.sees(e.settles().PrimaryUID)
	writer.goesOn()

	before := e.losesBoth(e.deleteDisk)
	third := standbys(before)[1]
	e.patch(`"paused":false`)
	e.becomesUnsafe(before, third)
	unsafe := e.status()
	e.patch(fmt.Sprintf(`"allowDataLoss":{"member":%q,"term":%d}`, third, unsafe.Term))
	watcher.sees(e.settles().PrimaryUID)
	e.reports("DataLossAllowed", `^`+third+` has the log up to [0-9A-F]+/[0-9A-F]+.* lost$`)
	writer.goesOn()
	writer.losesOnlyTheLast()
	e.deleteCluster()
}

// losesBoth pauses the cluster, and kills both synced members after doing something to each. Nobody
// takes over while it is paused.
func (e *env) losesBoth(also ...func(member string)) postgres.PostgresClusterStatus {
	e.Helper()
	before, pods := e.pauses(), e.pods()
	for _, member := range before.Synced {
		for _, do := range also {
			do(member)
		}
	}
	for _, member := range before.Synced {
		require.NoError(e, e.signalAgent(pods[member], syscall.SIGKILL))
	}
	eventually(e, "the operator has seen that they are gone", func() error {
		if n := e.status().Replicas; n != 1 {
			return fmt.Errorf("%d are ready", n)
		}
		return nil
	})
	now := e.status()
	assert.Equal(e, before.Term, now.Term)
	assert.Equal(e, before.PrimaryUID, now.PrimaryUID)
	return before
}

// pauses pauses a cluster that is as it should be, and returns its status.
func (e *env) pauses() (status postgres.PostgresClusterStatus) {
	e.Helper()
	eventually(e, "the cluster is paused", func() error {
		e.patch(`"paused":true`)
		cluster, err := e.cluster()
		if err == nil {
			err = settled(cluster)
		}
		if err != nil && cluster.Status.ObservedGeneration == cluster.Generation {
			e.patch(`"paused":false`) // it was not as it should be just then
			e.settles()
		}
		status = cluster.Status
		return err
	})
	return status
}

// becomesUnsafe waits for that phase. The third member is there, and is not promoted.
func (e *env) becomesUnsafe(before postgres.PostgresClusterStatus, third string) {
	e.Helper()
	eventually(e, "the cluster is Unsafe", func() error {
		if s := e.status(); s.Phase != postgres.Unsafe || len(s.Members) != 1 {
			return fmt.Errorf("it is %s, with %v", s.Phase, s.Members)
		}
		return nil
	})
	s := e.status()
	assert.Empty(e, s.Primary)
	assert.Subset(e, before.Synced, s.Synced) // of the standby, the loss may have been seen before the election
	require.Equal(e, third, s.Members[0].Name)
	assert.Equal(e, "standby", s.Members[0].Role)
}

// reports waits for an event of the cluster that has this reason and this message.
func (e *env) reports(reason, pattern string) {
	e.Helper()
	expected := regexp.MustCompile(pattern)
	eventually(e, "there is an event "+reason, func() error {
		var events corev1.EventList
		if err := e.client.List(e.Context(), &events, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		var others []string
		for _, event := range events.Items {
			if event.InvolvedObject.Name == name && event.Reason == reason {
				if expected.MatchString(event.Message) {
					return nil
				}
				others = append(others, event.Message)
			}
		}
		return fmt.Errorf("none matches %s; there are %q", pattern, others)
	})
}

// losesOnlyTheLast expects that what is lost was written after all that is left of the time before.
func (w *writer) losesOnlyTheLast() {
	w.Helper()
	lost := w.loses()
	for _, kept := range w.read() {
		for _, row := range lost {
			assert.False(w, kept.timeline == row.timeline && kept.n > row.n, "%+v is lost, and not %+v", row, kept)
		}
	}
}
