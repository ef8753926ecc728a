package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func asynchronous(r *plan.Report) { r.Asynchronous = "ALTER ROLE app SET synchronous_commit = off" }

func roleLapse(o *plan.Observed) { reported("db-1", asynchronous)(o) }

// hadLapse is what the status said before the primary was lost.
func hadLapse(o *plan.Observed) {
	meta.SetStatusCondition(&o.Cluster.Status.Conditions, metav1.Condition{Type: postgres.Redundant, Status: metav1.ConditionFalse, Reason: plan.AsynchronousCommits, Message: "of db-1"})
}

func TestDescribe(t *testing.T) {
	for name, tc := range map[string]struct {
		observed plan.Observed
		phase    postgres.Phase
		replicas int32
		reasons  [3]string // of Available, Redundant, Accepted; with a ! if it is False
	}{
		"a cluster that is well":                 {well(3), postgres.Running, 3, [3]string{"Serving", "TwoDisks", "Valid"}},
		"one that grows":                         {well(2, wantsSize(3)), postgres.Joining, 2, [3]string{"Serving", "TwoDisks", "Valid"}},
		"one that shrinks":                       {well(3, wantsSize(2)), postgres.Leaving, 3, [3]string{"Serving", "TwoDisks", "Valid"}},
		"a standby that is not published":        {well(2, statusOf(func(s *postgres.PostgresClusterStatus) { s.Synced = []string{"db-1"} })), postgres.Running, 2, [3]string{"Serving", "!OneDisk", "Valid"}},
		"a member that does not answer":          {well(2, silent("db-2", time.Second)), postgres.Running, 1, [3]string{"Serving", "TwoDisks", "Valid"}},
		"an election":                            {electing(2), postgres.Electing, 2, [3]string{"!Electing", "TwoDisks", "Valid"}},
		"a synced disk that is being deleted":    {well(3, disk("db-2", plan.DiskDeleting)), postgres.Running, 3, [3]string{"Serving", "!OneDisk", "Valid"}},
		"both synced disks are gone":             {electing(3, absent("db-1"), absent("db-2")), postgres.Electing, 1, [3]string{"!Electing", "!NoDisk", "Valid"}},
		"a pod of somebody else":                 {well(2, func(o *plan.Observed) { o.Foreign = []string{"Pod db-3"} }), postgres.Running, 2, [3]string{"Serving", "TwoDisks", "!ForeignObjects"}},
		"its standby is away":                    {well(2, streaming()), postgres.Running, 2, [3]string{"Serving", "!StandbyAway", "Valid"}},
		"and the primary has said so last":       {well(2, streaming(), silent("db-1", time.Second)), postgres.Running, 1, [3]string{"Serving", "!StandbyAway", "Valid"}},
		"another standby is away":                {well(3, streaming("db-2")), postgres.Running, 3, [3]string{"Serving", "TwoDisks", "Valid"}},
		"a role whose commits do not wait":       {well(2, roleLapse), postgres.Running, 2, [3]string{"Serving", "!AsynchronousCommits", "Valid"}},
		"and the primary does not answer":        {well(2, roleLapse, silent("db-1", time.Second)), postgres.Running, 1, [3]string{"Serving", "!AsynchronousCommits", "Valid"}},
		"the same, of a standby":                 {well(2, reported("db-2", asynchronous)), postgres.Running, 2, [3]string{"Serving", "TwoDisks", "Valid"}},
		"and that primary is lost":               {electing(2, hadLapse), postgres.Electing, 2, [3]string{"!Electing", "!AsynchronousCommits", "Valid"}},
		"a version that the image does not have": {nothing(2, specOf(func(s *postgres.PostgresClusterSpec) { s.Version = "16" })), "", 0, [3]string{"!Waiting", "!NoDisk", "!VersionNotInImage"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.observed.Cluster.Status.DeepCopy()
			if !tc.observed.Describe(s) {
				t.Error("nothing has changed")
			}
			if s.Phase != tc.phase || s.Replicas != tc.replicas || len(s.Members) != len(tc.observed.Members) {
				t.Errorf("got %s with %d replicas of %v", s.Phase, s.Replicas, s.Members)
			}
			for i, condition := range []string{postgres.Available, postgres.Redundant, postgres.Accepted} {
				got := meta.FindStatusCondition(s.Conditions, condition)
				reason := got.Reason
				if got.Status == "False" {
					reason = "!" + reason
				}
				if reason != tc.reasons[i] {
					t.Errorf("%s is %s, want %s", condition, reason, tc.reasons[i])
				}
			}
			if tc.observed.Describe(s) {
				t.Error("the same again is a change")
			}
		})
	}
}

// described is a condition of the status that is written for what was observed.
func described(t *testing.T, o plan.Observed, condition string) *metav1.Condition {
	t.Helper()
	s := o.Cluster.Status.DeepCopy()
	o.Describe(s)
	found := meta.FindStatusCondition(s.Conditions, condition)
	require.NotNil(t, found)
	return found
}

// Clients see only that nothing happens.
func TestWhyCommitsWait(t *testing.T) {
	for name, tc := range map[string]struct {
		change change
		want   string
	}{
		"its node is gone":           {ofMember("db-2", func(m *plan.Member) { m.Pod.Deleting, m.Report = true, nil }), "its pod is being deleted, and its kubelet has not reported the end"},
		"its pod finds no node":      {ofMember("db-2", func(m *plan.Member) { m.Pod.Started, m.Report = false, nil }), "its pod has not started"},
		"nothing is left of it":      {absent("db-2"), "it has no pod"},
		"it has no copy yet":         {reported("db-2", func(r *plan.Report) { r.Data, r.Running = plan.Empty, false }), "it has no copy of the database yet"},
		"it cannot follow":           {reported("db-2", cannotFollow), "permission denied"},
		"it has not caught up":       {streaming(), "it does not stream yet"},
		"others' commits do not":     {roleLapse, "it does not stream yet"},
		"it was not synced before":   {statusOf(func(s *postgres.PostgresClusterStatus) { s.Synced = []string{"db-1"} }), "it does not stream yet"},
		"the primary is silent, too": {silent("db-1", time.Second), "it does not stream yet"},
	} {
		t.Run(name, func(t *testing.T) {
			want := "db-1 is the primary; commits wait for db-2, which does not receive: " + tc.want
			assert.Equal(t, want, described(t, well(2, streaming(), tc.change), postgres.Available).Message)
		})
	}
	for name, o := range map[string]plan.Observed{
		"a cluster of one":                    well(1),
		"one whose commits wait for none yet": well(2, streaming(), statusOf(func(s *postgres.PostgresClusterStatus) { s.Standby, s.Synced = "", []string{"db-1"} })),
		"another standby is away":             well(3, streaming("db-2")),
	} {
		assert.Equal(t, "db-1 is the primary", described(t, o, postgres.Available).Message, name)
	}
}

func cannotFollow(r *plan.Report) { r.Following, r.Trouble = "", "permission denied" }

// It answers those who read, so it is ready.
func TestWhyAStandbyDoesNotReceive(t *testing.T) {
	for name, tc := range map[string]struct {
		observed plan.Observed
		member   int
		want     string
	}{
		"it cannot follow":           {well(3, streaming("db-2"), reported("db-3", cannotFollow)), 2, "permission denied"},
		"it follows":                 {well(3, reported("db-3", func(r *plan.Report) { r.Trouble = "of an hour ago" })), 2, ""},
		"there is nobody to follow":  {electing(3, reported("db-3", cannotFollow)), 2, ""},
		"the primary follows nobody": {well(3, reported("db-1", cannotFollow)), 0, ""},
	} {
		tc.observed.Describe(&tc.observed.Cluster.Status)
		m := tc.observed.Cluster.Status.Members[tc.member]
		assert.True(t, m.Ready, name)
		assert.Equal(t, tc.want, m.Trouble, name)
		assert.False(t, plan.LacksCopy(m), name)
	}
	o := well(2, streaming(), reported("db-2", cannotFollow), statusOf(func(s *postgres.PostgresClusterStatus) { s.Synced = []string{"db-1"} }))
	assert.Equal(t, "the latest acknowledged commits may be on one disk only [db-1]; db-2 does not receive: permission denied", described(t, o, postgres.Redundant).Message)
}
