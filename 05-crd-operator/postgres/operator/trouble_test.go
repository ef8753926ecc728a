package operator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/events"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// The sentence changes with each attempt, and one event is enough.
func TestACopyThatFailsIsAnEventOnce(t *testing.T) {
	recorder := events.NewFakeRecorder(5)
	r, o := &Reconciler{Events: recorder}, observation{}
	o.Cluster = &postgres.PostgresCluster{}
	for _, trouble := range []string{"", "the disk has no room", "the disk has no room at all", "", "the log is gone"} {
		now := []postgres.MemberStatus{{Name: "db-2", Trouble: trouble}}
		r.recordTroubles(o, now)
		o.Cluster.Status.Members = now
	}
	close(recorder.Events)
	var got []string
	for event := range recorder.Events {
		got = append(got, event)
	}
	assert.Equal(t, []string{
		"Warning CopyFailed db-2 has no copy of the database: the disk has no room",
		"Warning CopyFailed db-2 has no copy of the database: the log is gone",
	}, got)
}
