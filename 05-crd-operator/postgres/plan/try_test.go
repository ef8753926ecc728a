//go:build try

package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// What the lessons of parts 8.2 and 8.4 ask the reader to write. Until then, these tests fail.

func TestTryFencingIsRecorded(t *testing.T) {
	for name, tc := range map[string]struct {
		observed plan.Observed
		want     string
	}{
		"a pod that has ended":   {electing(2, held("db-1", false), ended("db-1")), "the pod of db-1 has ended"},
		"a Lease that ran out":   {electing(2, held("db-1", true), silent("db-1", 2*time.Second)), "the Lease of db-1 has run out"},
		"a pod that nobody has":  {electing(2, held("another", true)), "the Lease of pod of another has run out"},
		"both: the better proof": {electing(2, held("db-1", true), ended("db-1")), "the pod of db-1 has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			d := plan.Cluster(tc.observed)
			require.Equal(t, plan.FreeLease, d.Action)
			require.Equal(t, "Fenced", d.Reason, "nobody is told that the last primary can't write any more")
			assert.Equal(t, tc.want, d.Note)
			assert.False(t, d.Warning, "that is good news")
		})
	}
}

func TestTryAnOutdatedMemberLeavesFirst(t *testing.T) {
	image := imageOf("17.5")
	testDecisions(t, map[string]decisionCase{
		"one with the last image leaves before one with this": {well(4, image, old("db-3"), wantsSize(3)), "DeletePod db-3"},
		"of two with the last image, the youngest leaves":     {well(4, image, old("db-3", "db-4"), wantsSize(3)), "DeletePod db-4"},
		"one that doesn't answer leaves before both":          {well(4, image, old("db-3"), silent("db-4", time.Second), wantsSize(3)), "DeletePod db-4"},
	})
}

func TestTryATermNeverGoesBack(t *testing.T) {
	before := *whole(2)()
	for name, tc := range map[string]struct {
		to   int8
		want bool
	}{"back": {before.status.term - 1, true}, "on": {before.status.term + 1, false}, "nowhere": {before.status.term, false}} {
		t.Run(name, func(t *testing.T) {
			w := before
			w.status.term = tc.to
			problem := broken(&before, move{kind: act}, &w, &scope{})
			require.Equal(t, tc.want, problem != "", "the term goes from %d to %d, and broken says %q", before.status.term, tc.to, problem)
		})
	}
	f := explore(&scope{size: 2, commits: 1, faults: 1, kinds: []kind{kill}})
	assert.Empty(t, f.broken, "the search finds a term that goes back, where none does")
}

func TestTryTheStatusReportsWhatTheWishWaitsFor(t *testing.T) {
	for name, tc := range map[string]struct {
		observed     plan.Observed
		reason, want string
	}{
		"one that is not synced":           {well(3, wantsPrimary("db-3")), "Valid", "the switchover to db-3 waits: it is not synced"},
		"one that does not answer":         {well(3, wantsPrimary("db-2"), silent("db-2", time.Second)), "Valid", "the switchover to db-2 waits: it does not answer"},
		"one that is synced: it comes":     {well(3, wantsPrimary("db-2")), "Valid", ""},
		"the primary":                      {well(3, wantsPrimary("db-1")), "Valid", ""},
		"the primary, which is silent now": {well(3, wantsPrimary("db-1"), silent("db-1", time.Second)), "Valid", ""},
		"nobody":                           {well(3), "Valid", ""},
		"one that there is not":            {well(3, wantsPrimary("db-9")), "NoSuchMember", "spec.primary: there is no member db-9, only db-1, db-2, db-3; name one of them, or leave it out"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.observed.Cluster.Status.DeepCopy()
			tc.observed.Describe(s)
			accepted := meta.FindStatusCondition(s.Conditions, postgres.Accepted)
			require.NotNil(t, accepted)
			assert.Equal(t, tc.reason, accepted.Reason)
			assert.Equal(t, tc.want, accepted.Message, "nobody is told what the switchover waits for")
		})
	}
}
