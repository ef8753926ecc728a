package plan_test

import (
	"testing"
	"time"

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
