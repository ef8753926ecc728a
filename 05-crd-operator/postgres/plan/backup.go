package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// A base backup that has failed is tried again after a time that doubles each time.
const (
	firstRetry   = 10 * time.Second
	longestRetry = time.Hour
	// startsWithin is how long its pod may wait for a node or an image. The next one may have
	// another image.
	startsWithin = 10 * time.Minute
	// replaceBaseAfter is when the next one is due if the last one is of no use any more.
	replaceBaseAfter = time.Minute
	// leastInterval is the shortest @every that makes sense. The library takes anything shorter
	// than a second, also what is negative, for a second.
	leastInterval = 10 * time.Second
)

// BackupLabel is the label of that disk and of that pod. Its value is the cluster's name.
const BackupLabel = postgres.GroupName + "/backup"

// BackupName is the name of the disk of a cluster's backups, and of the pod that makes one.
func BackupName(cluster string) string { return cluster + "-backup" }

// backUp makes base backups by the schedule, one at a time. Each is a pod, whose result is
// written to the status before the pod goes.
func (o Observed) backUp() Decision {
	pod, s := o.Backup.Pod, o.Cluster.Status.Backup
	switch {
	case pod == nil:
		return o.beginBackup()
	case o.Cluster.Spec.Backup == nil, o.Backup.Foreign, s != nil && s.Counted == pod.UID:
		return o.endBackup()
	case pod.Succeeded:
		return o.count("BackedUp", "a base backup was made, restored on trial, and kept", func(s *postgres.BackupStatus) { s.Failures = 0 })
	case pod.Failed:
		return o.fail(pod.Message)
	case !pod.Started && pod.Waits > startsWithin:
		return o.fail("its pod has not started in " + startsWithin.String() + "; the next one may, or kubectl describe pod says why it cannot")
	}
	return Decision{}
}

func (o Observed) fail(why string) Decision {
	d := o.count("BackupFailed", "a base backup has failed: "+why, func(s *postgres.BackupStatus) { s.Failures++ })
	d.Warning = true
	return d
}

// count writes the result of a backup.
func (o Observed) count(reason, note string, change func(*postgres.BackupStatus)) Decision {
	return o.write(reason, note, func(s *postgres.PostgresClusterStatus) {
		if s.Backup == nil {
			s.Backup = &postgres.BackupStatus{}
		}
		s.Backup.Counted, s.Backup.Begun = o.Backup.Pod.UID, new(metav1.NewTime(o.Backup.Pod.Created))
		change(s.Backup)
	})
}

// endBackup deletes the pod of a backup.
func (o Observed) endBackup() Decision {
	pod := o.Backup.Pod
	if pod == nil || pod.Deleting {
		return Decision{}
	}
	return Decision{Action: DeleteBackup, Member: BackupName(o.Cluster.Name), UID: pod.UID}
}

// beginBackup copies a member, once that is due and its log is archived.
func (o Observed) beginBackup() Decision {
	primary := o.member(o.Cluster.Status.Primary)
	if !o.leads(primary) || primary.Report.Archive == nil || o.Backup.Foreign || o.tooSoon(BackupName(o.Cluster.Name)) {
		return Decision{}
	}
	wait, err := o.backupWait()
	if err != nil || o.Backup.Age < wait {
		return Decision{}
	}
	from := o.copied(primary)
	return Decision{Action: CreateBackup, Member: from.Name, UID: from.Pod.UID, Reason: "BackingUp", Note: "a base backup of " + from.Name + " is made"}
}

// backUpAnew has the next base backup be due at once: the last one may have what is lost with a
// promotion, and then it cannot be continued.
func backUpAnew(d Decision) Decision {
	if d.Status.Backup != nil {
		d.Status.Backup.Begun = nil
	}
	return d
}

// lacksBase reports whether there was a base backup that is of no use any more: the archive lacks
// some of the log after it, or its disk is another one.
func (o Observed) lacksBase() bool {
	primary, s := o.member(o.Cluster.Status.Primary), o.Cluster.Status.Backup
	return s != nil && s.LastBackup != nil && o.leads(primary) && primary.Report.Archive != nil && primary.Report.Archive.Last.IsZero()
}

// backupWait is how long after the last base backup was begun the next one is. The first is due at
// once. All of it is by the dates of the API server, so no other clock has a say.
func (o Observed) backupWait() (time.Duration, error) {
	schedule, err := cron.ParseStandard("CRON_TZ=UTC " + o.Cluster.Spec.Backup.Schedule)
	if err != nil {
		return 0, err
	}
	if every, ok := schedule.(cron.ConstantDelaySchedule); ok && every.Delay < leastInterval {
		return 0, fmt.Errorf("%q is more often than every %s", o.Cluster.Spec.Backup.Schedule, leastInterval)
	}
	if schedule.Next(time.Time{}).IsZero() { // as on the 30th of February
		return 0, fmt.Errorf("%q is never", o.Cluster.Spec.Backup.Schedule)
	}
	s := o.Cluster.Status.Backup
	switch {
	case s == nil || s.Begun == nil:
		return 0, nil
	case s.Failures > 0:
		return min(firstRetry<<min(s.Failures-1, 16), longestRetry), nil
	case o.lacksBase():
		return replaceBaseAfter, nil
	}
	return schedule.Next(s.Begun.Time).Sub(s.Begun.Time), nil
}

// copied is the member to copy: a standby that commits do not wait for, if there is one.
func (o Observed) copied(primary Member) Member {
	worth := func(m Member) int {
		switch {
		case m.Name == primary.Name || !m.hasData() || !m.Report.Running || !slices.Contains(primary.Report.Streaming, m.Name):
			return 0
		case m.Name == o.Cluster.Status.Standby:
			return 1
		}
		return 2
	}
	best := slices.MaxFunc(o.Members, func(a, b Member) int { return cmp.Compare(worth(a), worth(b)) })
	if worth(best) == 0 {
		return primary
	}
	return best
}

// foreignDisk is what is wrong with the disk of the backups, if it is somebody else's. Pruning would
// empty it.
func (o Observed) foreignDisk() string {
	if o.Cluster.Spec.Backup == nil || !o.Backup.Foreign {
		return ""
	}
	cluster := o.Cluster.Name
	return fmt.Sprintf("the PersistentVolumeClaim %s was not made for a cluster of this name, so it is left alone, and there are no backups; give the cluster another name, or delete the claim if nobody needs it, or, if it has backups of %s, label it %s=%s",
		BackupName(cluster), cluster, BackupLabel, cluster)
}

// backupRefusal is why there will be no backup.
func (o Observed) backupRefusal() string {
	if o.Cluster.Spec.Backup == nil {
		return ""
	}
	if _, err := o.backupWait(); err != nil {
		return fmt.Sprintf("spec.backup.schedule: %v; write it as for cron, such as \"0 3 * * *\"", err)
	}
	return ""
}

// These are the times of what is written about the archive: how often its end is, since each
// time all members read the status; and when it counts as late.
const (
	publishEvery = 10 * time.Second
	lagsAfter    = time.Minute // more than the archive's own timeout
)

// describeBackup puts into the status what the primary says of the archive.
func (o Observed) describeBackup(s *postgres.PostgresClusterStatus) {
	primary := o.member(s.Primary)
	if o.Cluster.Spec.Backup == nil || !o.leads(primary) || primary.Report.Archive == nil {
		return
	}
	if s.Backup == nil {
		s.Backup = &postgres.BackupStatus{}
	}
	a := primary.Report.Archive
	if a.Last.IsZero() {
		return
	}
	s.Backup.LastBackup, s.Backup.Bytes = new(metav1.NewTime(a.Last.Truncate(time.Second))), a.Bytes
	// Times of Kubernetes have no fractions of seconds.
	from, to := metav1.NewTime(a.First.Add(time.Second-1).Truncate(time.Second)), metav1.NewTime(a.Until.Truncate(time.Second))
	switch r := s.Backup.Restorable; { // a clock that was ahead may be right by now
	case to.Before(&from):
	case r == nil || !r.From.Equal(&from) || to.Sub(r.To.Time).Abs() >= publishEvery:
		s.Backup.Restorable = &postgres.Restorable{From: from, To: to}
	}
}

// notBackedUp is why the database cannot be restored to what it was a moment ago, or empty.
func (o Observed) notBackedUp(s *postgres.BackupStatus) (reason, message string) {
	archive := (*Archive)(nil)
	if primary := o.member(o.Cluster.Status.Primary); o.leads(primary) {
		archive = primary.Report.Archive
	}
	switch {
	case o.foreignDisk() != "":
		return "ForeignDisk", o.foreignDisk()
	case archive != nil && archive.Failure != "":
		return "NotArchived", archive.Failure
	case o.Backup.Refusal != "":
		return "BackupFailed", "the pod of a base backup can't be made: " + o.Backup.Refusal
	case s != nil && s.Failures > 0:
		return "BackupFailed", fmt.Sprintf("%d base backups have failed one after the other; the events say why", s.Failures)
	case s == nil || s.LastBackup == nil || s.Restorable == nil:
		return "Waiting", "there is no base backup yet"
	case o.lacksBase():
		return "Waiting", "the disk of the backups has none that can be restored; another one is made"
	case o.Now.Sub(s.Restorable.To.Time) > o.Cluster.Spec.Backup.ArchiveTimeout.Duration+lagsAfter:
		return "ArchiveLags", fmt.Sprintf("what was acknowledged since %s is not in the archive", s.Restorable.To.UTC().Format(time.RFC3339))
	}
	return "", ""
}
