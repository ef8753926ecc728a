package plan

import (
	"fmt"
	"strings"
	"time"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// recover begins again with what is in the backup, when no member has left anything: no disk, not
// even one that is being deleted, and no pod. What was acknowledged last is not in the backup,
// so as long as there is one disk, it is better to wait for a person.
func (o Observed) recover() Decision {
	if o.Cluster.Status.Phase != postgres.Unsafe || o.Lease.Holder != "" || o.unrecoverable() != "" {
		return Decision{}
	}
	s := o.Cluster.Status
	first := MemberName(o.Cluster, 1)
	note := fmt.Sprintf("all disks are lost; %s is made of the backup, which has what was acknowledged until %s", first, o.archivedUntil())
	d := o.write("Recovering", note, func(next *postgres.PostgresClusterStatus) {
		next.Phase, next.Term, next.Primary, next.PrimaryUID = postgres.Recovering, s.Term+1, first, ""
		next.Standby, next.Synced, next.SyncedBefore = "", nil, nil
		next.Restore = &postgres.RestoreFrom{Cluster: o.Cluster.Name}
		next.Backup.Begun = nil // another base backup is due as soon as there is a primary
		o.giveUp(next, "")      // a person may still bring a disk back
	})
	d.Warning = true
	return d
}

// unrecoverable is why the database is not made of the backup.
func (o Observed) unrecoverable() string {
	switch backup := o.Cluster.Status.Backup; {
	case len(o.Members) > 0:
		return "a member has left a disk or a pod"
	case len(o.Strays) > 0:
		return fmt.Sprintf("there are disks that may be members' (%s); give them back the labels and the owner of members', or delete them", strings.Join(o.Strays, ", "))
	case o.Cluster.Spec.Backup == nil || backup == nil || backup.LastBackup == nil:
		return "all disks are lost, and there is no backup"
	case !o.Backup.Disk:
		return "all disks are lost, that of the backups, too"
	}
	return ""
}

func (o Observed) archivedUntil() string {
	if r := o.Cluster.Status.Backup.Restorable; r != nil {
		return r.To.UTC().Format(time.RFC3339)
	}
	return "the last base backup"
}

// restored says what a member's database was made of, and what is lost as far as it is known.
func (o Observed) restored(m Member) string {
	r := m.Report.Restored
	if r == nil {
		return ""
	}
	note := fmt.Sprintf(" of base backup %s and the log up to %s", r.Base, r.At)
	if !r.Commit.IsZero() {
		note += ", whose last commit is of " + r.Commit.UTC().Format(time.RFC3339Nano)
	}
	switch {
	case o.Cluster.Status.Phase != postgres.Recovering:
		return note
	case o.Seen > r.At:
		return note + fmt.Sprintf("; the log was last seen at %s: what lies between is lost", o.Seen)
	}
	return note + "; what was acknowledged after that is lost, and nothing is known of it"
}
