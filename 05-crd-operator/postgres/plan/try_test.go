//go:build try

package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// What the lesson of part 8.2 asks the reader to write. Until then, these tests fail.

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
