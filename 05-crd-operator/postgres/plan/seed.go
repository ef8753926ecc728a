package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// seed has the first member make a database. That happens in this phase only: later, an empty
// disk is a loss. A disk that has a database already is taken as it is. Then the member is
// promoted like any other.
func (o Observed) seed() Decision {
	m := o.member(MemberName(o.Cluster, 1))
	_, refusal := o.seedRefusal()
	switch {
	case refusal != "":
		return o.release()
	case o.Cluster.Status.Phase == "":
		note := m.Name + " makes the database"
		if from := o.Cluster.Spec.RestoreFrom; from != nil {
			note += " of the backup of " + from.Cluster
		}
		return o.write("Seeding", note, func(s *postgres.PostgresClusterStatus) {
			s.Phase, s.Term, s.Primary, s.Version, s.Restore = postgres.Seeding, 1, m.Name, o.Version, o.Cluster.Spec.RestoreFrom
		})
	case o.restoresAnother(m):
		return o.write("Seeding", "another time is restored", func(s *postgres.PostgresClusterStatus) { s.Restore = o.Cluster.Spec.RestoreFrom })
	case m.Disk == NoDisk && m.Pod == nil && !o.tooSoon(m.Name):
		return Decision{Action: CreateMember, Member: m.Name}
	case o.eligible(m):
		return o.promote(m, "Seeded", m.Name+" has made the database"+o.restored(m))
	}
	return o.repair()
}

// restoresAnother reports whether another time of the same backups is wanted, while there is no
// database yet. The wish may be there because the first one cannot be had.
func (o Observed) restoresAnother(m Member) bool {
	wanted, now := o.Cluster.Spec.RestoreFrom, o.Cluster.Status.Restore
	if o.Cluster.Status.Phase != postgres.Seeding || wanted == nil || now == nil || m.hasData() {
		return false
	}
	return wanted.Cluster == now.Cluster && wanted.Cluster != o.Cluster.Name && !wanted.Time.Equal(now.Time)
}

// refusal is why something in the spec cannot be had.
func (o Observed) refusal() (reason, message string) {
	if reason, message := o.seedRefusal(); message != "" {
		return reason, message
	}
	if message := o.foreignDisk(); message != "" {
		return "ForeignDisk", message
	}
	if message := o.backupRefusal(); message != "" {
		return "InvalidSchedule", message
	}
	if foreign := slices.Compact(slices.Sorted(slices.Values(o.Foreign))); len(foreign) > 0 {
		return "ForeignObjects", fmt.Sprintf("objects that are not this cluster's have names of it: %s; if one of them is a member's and has lost its owner, give it back; or else delete it, or give the cluster another name", strings.Join(foreign, ", "))
	}
	if message := o.invalidPasswords(); message != "" {
		return "InvalidPassword", message
	}
	if message := o.stays(); message != "" {
		return "DataKept", message
	}
	if message := o.selectorRefusal(); message != "" {
		return "InvalidNodeSelector", message
	}
	if message := o.primaryRefusal(); message != "" {
		return "NoSuchMember", message
	}
	return "", ""
}

// selectorRefusal is why no node can have the labels of spec.nodeSelector, and no pod be made. A rule of
// the schema would cost too much: the values there have no greatest length.
func (o Observed) selectorRefusal() string {
	for _, key := range slices.Sorted(maps.Keys(o.Cluster.Spec.NodeSelector)) {
		value := o.Cluster.Spec.NodeSelector[key]
		if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(problems) > 0 {
			return fmt.Sprintf("spec.nodeSelector: no node has a label %.100q: %.100q, so no pod can be made: %s; correct it", key, value, problems[0])
		}
	}
	return ""
}

// primaryRefusal is why spec.primary names nobody. A member that is about to be made is somebody.
func (o Observed) primaryRefusal() string {
	wanted := o.Cluster.Spec.Primary
	if wanted == "" || len(o.Members) < int(o.Cluster.Spec.Size) || o.member(wanted).Number > 0 {
		return ""
	}
	var names []string
	for _, m := range o.Members {
		names = append(names, m.Name)
	}
	return fmt.Sprintf("spec.primary: there is no member %s, only %s; name one of them, or leave it out", wanted, strings.Join(names, ", "))
}

// seedRefusal is why no database can be made, or read.
func (o Observed) seedRefusal() (reason, message string) {
	made, wanted, from := o.Cluster.Status.Version, o.Cluster.Spec.Version, o.Cluster.Spec.RestoreFrom
	switch {
	case o.foreign():
		return "VersionNotInImage", fmt.Sprintf("the image has PostgreSQL %s, and the database is one of %s; upgrade with pg_dump, or give the operator an image of %s", o.Version, made, made)
	case wanted != "" && wanted != o.Version:
		return "VersionNotInImage", fmt.Sprintf("the image has PostgreSQL %s, and spec.version asks for %s; set it to %q, or give the operator another image", o.Version, wanted, o.Version)
	case o.Cluster.Spec.Storage.Sign() < 0 && o.Cluster.Status.Phase == "":
		return "InvalidStorage", fmt.Sprintf("spec.storage is %s; give a disk 224Mi or more", o.Cluster.Spec.Storage.String())
	case from != nil && from.Time != nil && from.Cluster == o.Cluster.Name && o.Cluster.Status.Phase == "":
		return "OwnBackups", "a cluster that continues its own backups has all of them; to restore to a time, give the cluster another name, or leave out spec.restoreFrom.time"
	case o.foreignDisk() != "" && o.Cluster.Status.Phase == "":
		return "ForeignDisk", o.foreignDisk()
	case from != nil && !o.Source && o.Cluster.Status.Phase == "":
		return "NoBackups", fmt.Sprintf("there are no backups of %s: the namespace has no PersistentVolumeClaim %s; correct spec.restoreFrom", from.Cluster, BackupName(from.Cluster))
	}
	return "", ""
}
