package operator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// This is what kubectl describe shows afterwards.
func TestTheEventsOfAFailover(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	assert.Equal(t, []string{
		"Normal Seeding db-1 makes the database",
		"Normal Seeded db-1 has made the database",
		"Normal Promoted db-1 takes writes in term 1",
		"Normal MemberJoins db-2 joins",
		`Normal StandbyChosen commits wait for "db-2"`,
		"Normal StandbySynced db-2 has every acknowledged commit",
	}, e.recorded())

	e.kill("db-1")
	e.settle()
	assert.Equal(t, []string{
		"Normal Electing db-1: its pod has ended",
		"Normal Promoting db-2 becomes the primary",
		"Normal Promoted db-2 takes writes in term 2",
		"Normal MemberEnded the pod of db-1 has ended and is created again",
		"Normal StandbySynced db-1 has every acknowledged commit",
	}, e.recorded())
}

// eventsOf are the events of one status after the other.
func eventsOf(all ...postgres.PostgresClusterStatus) (got []string) {
	var before postgres.PostgresClusterStatus
	for _, now := range all {
		for _, d := range news(before, now) {
			got = append(got, d.Reason+": "+d.Note)
		}
		before = now
	}
	return got
}

func TestAConditionIsAnEventWhenItsSentenceChanges(t *testing.T) {
	condition := func(kind string, status metav1.ConditionStatus, reason, message string) (s postgres.PostgresClusterStatus) {
		s.Conditions = []metav1.Condition{{Type: kind, Status: status, Reason: reason, Message: message}}
		return s
	}
	accepted := func(status metav1.ConditionStatus, message string) postgres.PostgresClusterStatus {
		return condition(postgres.Accepted, status, "NoSuchMember", message)
	}
	assert.Equal(t, []string{"NoSuchMember: there is no db-9", "NoSuchMember: there is no db-8", "NoSuchMember: there is no db-8"}, eventsOf(
		accepted(metav1.ConditionFalse, "there is no db-9"), accepted(metav1.ConditionFalse, "there is no db-9"),
		accepted(metav1.ConditionFalse, "there is no db-8"), accepted(metav1.ConditionTrue, ""),
		accepted(metav1.ConditionFalse, "there is no db-8"),
	))
	redundant := func(reason, message string) postgres.PostgresClusterStatus {
		return condition(postgres.Redundant, metav1.ConditionFalse, reason, message)
	}
	assert.Equal(t, []string{"AsynchronousCommits: of role app"}, eventsOf(
		redundant("OneMember", "one member"), redundant(plan.AsynchronousCommits, "of role app"),
		redundant(plan.AsynchronousCommits, "of role app"), redundant("OneMember", "one member"),
	))
}

// Until its kubelet reports the end of its pod, it cannot be made again.
func TestTheNodeOfTheStandbyIsGone(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.recorded()
	e.change(func() { a := e.agents["db-2"]; a.frozen, a.report.Following = true, "" })
	for e.pod("db-2").DeletionTimestamp == nil { // without a kubelet
		e.reconcile()
	}
	e.reconcile()
	assert.Equal(t, []string{"Normal MemberLost db-2 does not answer; its pod is replaced"}, e.recorded())
	const why = "commits wait for db-2, which does not receive: its pod is being deleted, and its kubelet has not reported the end"
	assert.Equal(t, "Serving db-1 is the primary; "+why, e.condition(postgres.Available))
	assert.Equal(t, "StandbyAway "+why+"; until it receives, or another standby does, no commit is acknowledged", e.condition(postgres.Redundant))
	e.settle()
	assert.Equal(t, "TwoDisks every acknowledged commit is on the disks of db-1 and db-2", e.condition(postgres.Redundant))
}

// It is Ready, since it answers those who read. In a failover that is so for a moment, and no event.
func TestAStandbyThatCannotFollow(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.recorded()
	e.change(func() {
		a := e.agents["db-2"]
		a.rests, a.report.Following, a.report.Trouble = true, "", "permission denied"
	})
	e.reconcile()
	e.reconcile()
	standby := e.cluster().Status.Members[1]
	assert.True(t, standby.Ready)
	assert.Equal(t, "permission denied", standby.Trouble)
	assert.Contains(t, e.condition(postgres.Redundant), "StandbyAway commits wait for db-2, which does not receive: permission denied;")
	assert.Empty(t, e.recorded())
}

// condition is the reason and the message of one.
func (e *env) condition(kind string) string {
	e.Helper()
	c := meta.FindStatusCondition(e.cluster().Status.Conditions, kind)
	return c.Reason + " " + c.Message
}

// Its sentence changes with each attempt, and one event is enough.
func TestACopyThatFailsIsAnEventOnce(t *testing.T) {
	var all []postgres.PostgresClusterStatus
	for _, trouble := range []string{"", "the disk has no room", "the disk has no room at all", "", "the log is gone"} {
		all = append(all, postgres.PostgresClusterStatus{Members: []postgres.MemberStatus{{Name: "db-2", Trouble: trouble}}})
	}
	assert.Equal(t, []string{
		"CopyFailed: db-2 has no copy of the database: the disk has no room",
		"CopyFailed: db-2 has no copy of the database: the log is gone",
	}, eventsOf(all...))
}
