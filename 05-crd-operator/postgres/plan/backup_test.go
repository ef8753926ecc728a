package plan_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// noon is when the cases of backups are.
var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// backedUp is a cluster whose log is archived, and that is backed up at each full hour.
func backedUp(size int32, changes ...change) plan.Observed {
	o := well(size, specOf(func(s *postgres.PostgresClusterSpec) {
		s.Backup = &postgres.Backup{Schedule: "0 * * * *", Keep: 2, ArchiveTimeout: metav1.Duration{Duration: time.Minute}}
	}), reported("db-1", func(r *plan.Report) { r.Archive = &plan.Archive{} }))
	o.Now, o.Backup.Disk = noon, true
	return with(o, changes)
}

// begun is a base backup that has ended, and when it was begun.
func begun(ago time.Duration, failures int32) change {
	return func(o *plan.Observed) {
		o.Cluster.Status.Backup = &postgres.BackupStatus{Begun: &metav1.Time{Time: noon.Add(-ago)}, Failures: failures, Counted: "counted"}
		o.Backup.Age = ago
	}
}

// now is what the operator's clock shows.
func now(t time.Time) change { return func(o *plan.Observed) { o.Now = t } }

func backupPod(p plan.BackupPod) change {
	return func(o *plan.Observed) { o.Backup.Pod = &p }
}

// foreignDisk has somebody else's disk be where the backups should go.
func foreignDisk(o *plan.Observed) { o.Backup.Disk, o.Backup.Foreign = false, true }

// refusedPod has the API server refuse the pod of a base backup.
func refusedPod(o *plan.Observed) { o.Backup.Refusal = "exceeded quota" }

func archive(a plan.Archive) change {
	return reported("db-1", func(r *plan.Report) { r.Archive = &a })
}

const unchanged = "Running, term 1, primary db-1, standby db-2, synced [db-1 db-2]"

// lastBackup was made, and is in the status.
var lastBackup = statusOf(func(s *postgres.PostgresClusterStatus) { s.Backup.LastBackup = &metav1.Time{Time: noon} })

func TestABackupIsMade(t *testing.T) {
	schedule := func(line string) change {
		return specOf(func(s *postgres.PostgresClusterSpec) { s.Backup.Schedule = line })
	}
	testDecisions(t, map[string]decisionCase{
		"at once if there was none":                  {backedUp(3), "CreateBackup db-3"},
		"of the synced standby if there is no other": {backedUp(2), "CreateBackup db-2"},
		"of the primary if there is none":            {backedUp(1), "CreateBackup db-1"},
		"not of one that does not stream":            {backedUp(3, streaming("db-2")), "CreateBackup db-2"},
		"not if nobody wants it":                     {well(3), ""},
		"not on somebody else's disk":                {backedUp(3, foreignDisk), ""},
		"what is being made there ends":              {backedUp(3, foreignDisk, backupPod(plan.BackupPod{UID: "backup"})), "DeleteBackup db-backup"},
		"not while its pod cannot be made":           {backedUp(3, tooSoon("db-backup")), ""},
		"not while nothing is archived":              {backedUp(3, reported("db-1", func(r *plan.Report) { r.Archive = nil })), ""},
		"when it is time":                            {backedUp(3, begun(time.Minute, 0)), "CreateBackup db-3"},
		"not before that":                            {backedUp(3, begun(0, 0)), ""},
		"not early if the clock is ahead":            {backedUp(3, begun(0, 0), now(noon.AddDate(2, 0, 0))), ""},
		"nor late if it is slow":                     {backedUp(3, begun(time.Minute, 0), now(noon.AddDate(-2, 0, 0))), "CreateBackup db-3"},
		"not all the time":                           {backedUp(3, begun(time.Hour, 0), schedule("@every 1s")), ""},
		"not by an interval that goes back":          {backedUp(3, begun(time.Hour, 0), schedule("@every -6h")), ""},
		"also by an interval":                        {backedUp(3, begun(time.Minute, 0), schedule("@every 60s")), "CreateBackup db-3"},
		"again after ten seconds if it has failed":   {backedUp(3, begun(10*time.Second, 1)), "CreateBackup db-3"},
		"not earlier":                                {backedUp(3, begun(9*time.Second, 1)), ""},
		"ever more slowly":                           {backedUp(3, begun(79*time.Second, 4)), ""},
		"but every hour at least":                    {backedUp(3, begun(time.Hour, 100)), "CreateBackup db-3"},
		"not while there is one":                     {backedUp(3, backupPod(plan.BackupPod{UID: "pod", Started: true, Created: noon.Add(-time.Hour)})), ""},
		"nor while one waits for a node":             {backedUp(3, backupPod(plan.BackupPod{UID: "pod", Waits: 10 * time.Minute})), ""},
		"whatever its date is":                       {backedUp(3, backupPod(plan.BackupPod{UID: "pod", Created: noon.AddDate(-2, 0, 0)})), ""},
		"one that never starts is a failure":         {backedUp(3, backupPod(plan.BackupPod{UID: "pod", Waits: 11 * time.Minute})), unchanged},
		"and its pod goes":                           {backedUp(3, begun(0, 1), backupPod(plan.BackupPod{UID: "counted", Created: noon.Add(-11 * time.Minute)})), "DeleteBackup db-backup"},
		"soon if the last one is of no use any more": {backedUp(3, begun(time.Minute, 0), schedule("@every 1h"), lastBackup), "CreateBackup db-3"},
		"but not at once":                            {backedUp(3, begun(59*time.Second, 0), schedule("@every 1h"), lastBackup), ""},
		"not while the archive has it":               {backedUp(3, begun(time.Minute, 0), schedule("@every 1h"), lastBackup, archive(plan.Archive{Last: noon})), ""},
		"not by a schedule that says nothing":        {backedUp(3, schedule("daily")), ""},
		"not by one that is never":                   {backedUp(3, begun(time.Hour, 0), schedule("0 0 31 2 *")), ""},
		"a success is written":                       {backedUp(3, backupPod(plan.BackupPod{UID: "pod", Succeeded: true})), unchanged},
		"a failure is, too":                          {backedUp(3, backupPod(plan.BackupPod{UID: "pod", Failed: true})), unchanged},
		"then the pod goes":                          {backedUp(3, begun(0, 0), backupPod(plan.BackupPod{UID: "counted", Succeeded: true})), "DeleteBackup db-backup"},
		"and goes once":                              {backedUp(3, begun(0, 0), backupPod(plan.BackupPod{UID: "counted", Succeeded: true, Deleting: true})), ""},
		"it ends when nobody wants it any more":      {well(3, backupPod(plan.BackupPod{UID: "pod"})), "DeleteBackup db-backup"},
		"it ends before the cluster does": {backedUp(3, backupPod(plan.BackupPod{UID: "pod"}), statusOf(func(s *postgres.PostgresClusterStatus) { s.Phase = postgres.Deleting }), func(o *plan.Observed) {
			o.Cluster.DeletionTimestamp = &metav1.Time{}
		}), "DeleteBackup db-backup"},
	})
}

func TestAResultIsCountedOnce(t *testing.T) {
	created := noon.Add(-time.Minute)
	failed := backedUp(3, begun(time.Hour, 1), backupPod(plan.BackupPod{UID: "pod", Created: created, Failed: true, Message: "no space left"}))
	d := plan.Cluster(failed)
	if b := d.Status.Backup; b.Failures != 2 || b.Counted != "pod" || !b.Begun.Time.Equal(created) {
		t.Errorf("got %+v", b)
	}
	if !d.Warning || !strings.HasSuffix(d.Note, "no space left") {
		t.Errorf("got the event %+v", d)
	}
	failed.Backup.Pod.Failed, failed.Backup.Pod.Succeeded = false, true
	if d := plan.Cluster(failed); d.Status.Backup.Failures != 0 || d.Warning {
		t.Errorf("got %+v", d.Status.Backup)
	}
}

func TestWhatIsReportedOfBackups(t *testing.T) {
	at := func(before time.Duration) time.Time { return noon.Add(-before) }
	published := statusOf(func(s *postgres.PostgresClusterStatus) {
		s.Backup = &postgres.BackupStatus{LastBackup: &metav1.Time{Time: at(time.Hour)}, Restorable: &postgres.Restorable{From: metav1.Time{Time: at(2 * time.Hour)}, To: metav1.Time{Time: at(5 * time.Second)}}}
	})
	good := plan.Archive{First: at(2 * time.Hour), Last: at(time.Hour), Until: at(time.Second / 2)}
	ahead := statusOf(func(s *postgres.PostgresClusterStatus) { s.Backup.Restorable.To.Time = noon.AddDate(2, 0, 0) })
	for name, tc := range map[string]struct {
		observed plan.Observed
		reason   string    // of BackedUp; with a ! if it is False
		to       time.Time // of the range
	}{
		"nothing yet":                     {backedUp(2), "!Waiting", time.Time{}},
		"a backup":                        {backedUp(2, archive(good)), "Verified", at(time.Second)},
		"a little later":                  {backedUp(2, published, archive(good)), "Verified", at(5 * time.Second)},
		"ten seconds later":               {backedUp(2, published, archive(plan.Archive{First: good.First, Last: good.Last, Until: noon.Add(5 * time.Second)})), "Verified", noon.Add(5 * time.Second)},
		"from a clock that was ahead":     {backedUp(2, published, ahead, archive(good)), "Verified", at(time.Second)},
		"an archive that lags":            {backedUp(2, archive(plan.Archive{First: good.First, Last: good.Last, Until: at(3 * time.Minute)})), "!ArchiveLags", at(3 * time.Minute)},
		"one that takes nothing":          {backedUp(2, archive(plan.Archive{First: good.First, Last: good.Last, Until: good.Until, Failure: "no space left"})), "!NotArchived", at(time.Second)},
		"an archive that begins later":    {backedUp(2, archive(plan.Archive{First: at(time.Second), Last: at(time.Second), Until: at(2 * time.Second)})), "!Waiting", time.Time{}},
		"a disk that was emptied":         {backedUp(2, published), "!Waiting", at(5 * time.Second)},
		"backups that fail":               {backedUp(2, begun(time.Minute, 3), archive(good)), "!BackupFailed", at(time.Second)},
		"a pod that is refused":           {backedUp(2, begun(time.Hour, 3), refusedPod, archive(good)), "!BackupFailed", at(time.Second)},
		"a primary that does not answer":  {backedUp(2, published, silent("db-1", time.Second)), "Verified", at(5 * time.Second)},
		"somebody else's disk":            {backedUp(2, foreignDisk, archive(good)), "!ForeignDisk", at(time.Second)},
		"nothing that anybody has wanted": {well(2), "", time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.observed.Cluster.Status.DeepCopy()
			tc.observed.Describe(s)
			reason := ""
			if got := meta.FindStatusCondition(s.Conditions, postgres.BackedUp); got != nil {
				if reason = got.Reason; got.Status == "False" {
					reason = "!" + reason
				}
			}
			if reason != tc.reason {
				t.Errorf("BackedUp is %q, want %q", reason, tc.reason)
			}
			if got := meta.FindStatusCondition(s.Conditions, postgres.BackedUp); got != nil && !strings.HasSuffix(got.Message, tc.observed.Backup.Refusal) {
				t.Errorf("the message is %q, without the reason", got.Message)
			}
			to := time.Time{}
			if s.Backup != nil && s.Backup.Restorable != nil {
				to = s.Backup.Restorable.To.Time
			}
			if !to.Equal(tc.to) {
				t.Errorf("the range goes to %s, want %s", to, tc.to)
			}
		})
	}
}

// The schema knows nothing of cron, so it is the operator that says what it cannot do.
func TestASchedule(t *testing.T) {
	for schedule, want := range map[string]string{
		"0 3 * * *":    "",
		"0 0 29 2 *":   "",
		"@daily":       "",
		"@every 10s":   "",
		"@every 1h30m": "",
		"daily":        "expected exactly 5 fields",
		"":             "spec.backup.schedule: ",
		"0 0 30 2 *":   `"0 0 30 2 *" is never`,
		"@every 9.9s":  "more often than every 10s",
		"@every 1s":    "more often than every 10s",
		"@every -6h":   "more often than every 10s",
		"@every day":   "failed to parse duration",
		"@every":       "unrecognized descriptor",
	} {
		o := backedUp(2, specOf(func(s *postgres.PostgresClusterSpec) { s.Backup.Schedule = schedule }))
		o.Cluster.Status.Backup = nil // none was made yet
		s := o.Cluster.Status.DeepCopy()
		o.Describe(s)
		got := meta.FindStatusCondition(s.Conditions, postgres.Accepted)
		switch {
		case want == "" && got.Status != metav1.ConditionTrue,
			want != "" && (got.Reason != "InvalidSchedule" || !strings.Contains(got.Message, want) || !strings.Contains(got.Message, `"0 3 * * *"`)):
			t.Errorf("%q: got %+v", schedule, got)
		}
	}
}
