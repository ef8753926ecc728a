//go:build try

package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// What the lessons of parts 8.2, 8.4, 8.6 and 8.7 ask the reader to write. Until then, these tests fail.

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
			accepted := described(t, tc.observed, postgres.Accepted)
			assert.Equal(t, tc.reason, accepted.Reason)
			assert.Equal(t, tc.want, accepted.Message, "nobody is told what the switchover waits for")
		})
	}
}

func TestTryTheStatusReportsSinceWhenNothingIsArchived(t *testing.T) {
	last := noon.Add(-5 * time.Minute)
	published := statusOf(func(s *postgres.PostgresClusterStatus) {
		s.Backup = &postgres.BackupStatus{LastBackup: &metav1.Time{Time: last}, Restorable: &postgres.Restorable{From: metav1.Time{Time: last}, To: metav1.Time{Time: last}}}
	})
	failing := func(until time.Time) change {
		return archive(plan.Archive{First: last, Last: last, Until: until, Failure: "no space left"})
	}
	for name, tc := range map[string]struct {
		observed     plan.Observed
		reason, want string
	}{
		"for five minutes":             {backedUp(2, published, failing(last)), "NotArchived", "no space left; what was acknowledged since 2026-11-23T11:55:00Z is not in the archive"},
		"since a moment ago":           {backedUp(2, published, failing(noon)), "NotArchived", "no space left; what was acknowledged since 2026-11-23T12:00:00Z is not in the archive"},
		"before the first base backup": {backedUp(2, archive(plan.Archive{Failure: "no space left"})), "NotArchived", "no space left"},
		"a slow one has its own words": {backedUp(2, published, archive(plan.Archive{First: last, Last: last, Until: last})), "ArchiveLags", "what was acknowledged since 2026-11-23T11:55:00Z is not in the archive"},
	} {
		t.Run(name, func(t *testing.T) {
			backedUp := described(t, tc.observed, postgres.BackedUp)
			assert.Equal(t, tc.reason, backedUp.Reason)
			assert.Equal(t, tc.want, backedUp.Message, "nobody is told since when nothing is archived")
		})
	}
}

func TestTryTheStatusReportsWhyTheDiskIsFull(t *testing.T) {
	const why = "the archive takes nothing, so the log stays: see BackedUp first"
	takesNothing := archive(plan.Archive{First: noon, Last: noon, Until: noon, Failure: "no space left"})
	for name, tc := range map[string]struct {
		observed plan.Observed
		want     string // how the message begins
	}{
		"the archive takes nothing":           {backedUp(3, full("db-1"), takesNothing), "nearly full: the disk of db-1; no writes are taken; " + why + ". Raise spec.storage"},
		"a standby's disk: its log stays too": {backedUp(3, full("db-3"), takesNothing), "nearly full: the disk of db-3; " + why + ". Raise spec.storage"},
		"the archive takes the log":           {backedUp(3, full("db-1"), archive(plan.Archive{First: noon, Last: noon, Until: noon})), "nearly full: the disk of db-1; no writes are taken. Raise spec.storage"},
		"no archive is wanted":                {well(3, full("db-1")), "nearly full: the disk of db-1; no writes are taken. Raise spec.storage"},
		"no archive is wanted any more":       {backedUp(3, full("db-1"), takesNothing, specOf(func(s *postgres.PostgresClusterSpec) { s.Backup = nil })), "nearly full: the disk of db-1; no writes are taken. Raise spec.storage"},
		"the archive is slow":                 {backedUp(3, full("db-1"), archive(plan.Archive{First: noon.Add(-time.Hour), Last: noon.Add(-time.Hour), Until: noon.Add(-time.Hour)})), "nearly full: the disk of db-1; no writes are taken. Raise spec.storage"},
	} {
		t.Run(name, func(t *testing.T) {
			hasSpace := described(t, tc.observed, postgres.HasSpace)
			assert.True(t, strings.HasPrefix(hasSpace.Message, tc.want), "HasSpace does not say why the disk is full (%s): %s", name, hasSpace.Message)
		})
	}
	assert.Equal(t, metav1.ConditionTrue, described(t, backedUp(3, takesNothing), postgres.HasSpace).Status, "an archive that takes nothing is no full disk")
}
