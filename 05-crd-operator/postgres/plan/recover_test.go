package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// ruined is a cluster that has lost all disks but that of its backups.
func ruined(changes ...change) plan.Observed {
	o := electing(2, absent("db-1"), absent("db-2"), specOf(func(s *postgres.PostgresClusterSpec) { s.Backup = &postgres.Backup{Schedule: "@every 1h"} }),
		statusOf(func(s *postgres.PostgresClusterStatus) {
			s.Phase, s.Backup = postgres.Unsafe, &postgres.BackupStatus{LastBackup: &metav1.Time{Time: noon}, Begun: &metav1.Time{Time: noon}}
		}))
	o.Backup.Disk = true
	return with(o, changes)
}

const recovery1 = "Recovering, term 3, primary db-1, synced []"

func TestTheBackupIsRestored(t *testing.T) {
	left := func(m plan.Member) change {
		return func(o *plan.Observed) { o.Members = []plan.Member{m} }
	}
	testDecisions(t, map[string]decisionCase{
		"when no member has left anything":          {ruined(), recovery1},
		"not before the cluster is Unsafe":          {ruined(statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase = postgres.Electing })), ""},
		"not while a disk is left":                  {ruined(left(plan.Member{Name: "db-3", Number: 3, Disk: plan.HasDisk}), tooSoon("db-3")), ""},
		"not while one is being deleted":            {ruined(left(plan.Member{Name: "db-1", Number: 1, Disk: plan.DiskDeleting})), ""},
		"not while a pod is left":                   {ruined(left(plan.Member{Name: "db-1", Number: 1, Pod: &plan.Pod{UID: "pod", Deleting: true}})), ""},
		"not while there is a disk without a label": {ruined(func(o *plan.Observed) { o.Strays = []string{"db-2"} }), ""},
		"not while somebody holds the Lease":        {ruined(held("another", false)), ""},
		"not if nobody has wanted a backup":         {ruined(specOf(func(s *postgres.PostgresClusterSpec) { s.Backup = nil })), ""},
		"not if there is none yet":                  {ruined(statusOf(func(s *postgres.PostgresClusterStatus) { s.Backup.LastBackup = nil })), ""},
		"not if its disk is lost, too":              {ruined(func(o *plan.Observed) { o.Backup.Disk = false }), ""},
		"not of somebody else's disk":               {ruined(foreignDisk), ""},
		"not while the cluster is paused":           {ruined(specOf(func(s *postgres.PostgresClusterSpec) { s.Paused = true })), ""},
	})
	s := plan.Cluster(ruined()).Status
	if s.Restore == nil || s.Restore.Cluster != "db" || s.Backup.Begun != nil || s.PrimaryUID != "" {
		t.Errorf("got %+v", s)
	}
	if got, want := fmt.Sprint(s.Lost), "[{db-1 2 } {db-2 2 }]"; got != want { // should a person bring a disk back
		t.Errorf("got %s, want %s", got, want)
	}
}

// recovering is that cluster, once db-1 has restored the backup.
func recovered(changes ...change) plan.Observed {
	o := ruined(statusOf(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Primary, s.Standby, s.Synced, s.Restore = postgres.Recovering, 3, "db-1", "", nil, &postgres.RestoreFrom{Cluster: "db"}
	}))
	o.Members = []plan.Member{standby(1)}
	o.Members[0].Report.Term, o.Members[0].Report.Restored = 3, &plan.Restored{Base: "base", At: 0x100, Commit: noon}
	return with(o, changes)
}

func TestWhatWasRestoredIsPromoted(t *testing.T) {
	testDecisions(t, map[string]decisionCase{
		"its pod is made":                   {recovered(absent("db-1")), "CreateMember db-1"},
		"it is waited for":                  {recovered(reported("db-1", func(r *plan.Report) { r.Data = plan.Empty })), ""},
		"and promoted":                      {recovered(), "Promoting, term 3, primary db-1, synced [db-1]"},
		"a new cluster is made of a backup": {nothing(2, restoreFrom("other"), func(o *plan.Observed) { o.Source = true }), "Seeding, term 1, primary db-1, synced []"},
		"not if there is none":              {nothing(2, restoreFrom("other")), ""},
		"one continues its own backups":     {nothing(2, restoreFrom("db"), there), "Seeding, term 1, primary db-1, synced []"},
		"but not from an earlier time":      {nothing(2, restoreFrom("db"), there, untilTime), ""},
		"another time may be wanted":        {making(restoreFrom("other"), untilTime, empty), "Seeding, term 1, primary db-1, synced []"},
		"until there is a database":         {making(restoreFrom("other"), untilTime), "Promoting, term 1, primary db-1, synced [db-1]"},
		"not of another cluster":            {making(restoreFrom("third"), untilTime, empty), ""},
	})
	if d := plan.Cluster(making(restoreFrom("other"), untilTime, empty)); !d.Status.Restore.Time.Time.Equal(noon) {
		t.Errorf("got %+v", d.Status.Restore)
	}
	if s := plan.Cluster(nothing(2, restoreFrom("other"), func(o *plan.Observed) { o.Source = true })).Status; s.Restore == nil || s.Restore.Cluster != "other" {
		t.Errorf("got %+v", s)
	}
}

func restoreFrom(cluster string) change {
	return specOf(func(s *postgres.PostgresClusterSpec) { s.RestoreFrom = &postgres.RestoreFrom{Cluster: cluster} })
}

// untilTime wants it at a time, and not to the end.
var untilTime = specOf(func(s *postgres.PostgresClusterSpec) { s.RestoreFrom.Time = &metav1.Time{Time: noon} })

// there are backups to restore.
func there(o *plan.Observed) { o.Source = true }

var empty = reported("db-1", func(r *plan.Report) { r.Data = plan.Empty })

// making is a cluster whose first member makes its database of the backups of another one.
func making(changes ...change) plan.Observed {
	return recovered(append([]change{statusOf(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Restore = postgres.Seeding, 1, &postgres.RestoreFrom{Cluster: "other"}
	}), reported("db-1", func(r *plan.Report) { r.Term = 1 })}, changes...)...)
}

func TestWhatIsReportedOfALoss(t *testing.T) {
	seen := func(at plan.LSN) change { return func(o *plan.Observed) { o.Seen = at } }
	for name, tc := range map[string]struct{ note, want string }{
		"more was seen":    {plan.Cluster(recovered(seen(0x200))).Note, "base and the log up to 0/100, whose last commit is of 2026-11-23T12:00:00Z; the log was last seen at 0/200: what lies between is lost"},
		"no more was seen": {plan.Cluster(recovered(seen(0x100))).Note, "; what was acknowledged after that is lost, and nothing is known of it"},
		"before that":      {plan.Cluster(ruined()).Note, "which has what was acknowledged until the last base backup"},
	} {
		if !strings.HasSuffix(tc.note, tc.want) {
			t.Errorf("%s: got %q", name, tc.note)
		}
	}
	for name, tc := range map[string]struct {
		observed plan.Observed
		want     string
	}{
		"a disk without a label": {ruined(func(o *plan.Observed) { o.Strays = []string{"db-2"} }), "there are disks that may be members' (db-2)"},
		"no backup":              {ruined(specOf(func(s *postgres.PostgresClusterSpec) { s.Backup = nil })), "all disks are lost, and there is no backup"},
		"somebody else's disk":   {ruined(foreignDisk), "all disks are lost, that of the backups, too"},
		"a member in trouble":    {recovered(reported("db-1", func(r *plan.Report) { r.Trouble = "no space left" })), "db-1: no space left"},
	} {
		s := tc.observed.Cluster.Status.DeepCopy()
		tc.observed.Describe(s)
		if got := meta.FindStatusCondition(s.Conditions, postgres.Available).Message; !strings.Contains(got, tc.want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
