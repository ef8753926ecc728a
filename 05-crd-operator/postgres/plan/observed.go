package plan

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// Observed is everything that the operator's decision depends on. The cluster is read first, so
// that no report is older than the status that it is compared with, and the report of the primary
// last, so that what it says of a standby is newer than what the standby says.
type Observed struct {
	Cluster *postgres.PostgresCluster
	Members []Member // all that have a disk or a pod, by number
	Lease   Lease
	Version string // the major version of PostgreSQL in the image
	Backup  Backup
	Source  bool // the backups that spec.restoreFrom names are there
	// Strays are disks with the name of a member's that are not among the members: they are
	// somebody else's, or somebody has taken their owner away. If there are no members, all of
	// them are known.
	Strays []string
	// Foreign are the objects of somebody else that have names of this cluster's, such as "Pod db-3".
	Foreign []string
	Seen    LSN // how far the log of any member was known to go
	// TooSoon are the members that were made a moment ago, or could not be made, and the pod of a
	// backup, likewise. They wait, and what comes after them does not.
	TooSoon []string
	// Now is what the conditions are dated with.
	Now time.Time
	// Leaderless is how long there has been no primary, as far as this operator has seen it.
	Leaderless time.Duration
}

// Member is what the operator knows of a member.
type Member struct {
	Name   string
	Number int
	Disk   Disk
	// Storage is how large the disk is: what was promised, by the claim.
	Storage resource.Quantity
	Pod     *Pod    // nil if there is none
	Report  *Report // nil if its agent does not answer
	// Last is the last report of this member, if it does not answer now.
	Last *Report
	// Silent is how long the agent has not answered: since its last answer, the start of its
	// container or the start of the operator, whichever was last. While it answers, it is zero.
	Silent time.Duration
}

// Backup is what there is for the backups of the cluster.
type Backup struct {
	Disk    bool       // there is a disk for them, and it is to stay
	Foreign bool       // somebody else's disk has its name
	Pod     *BackupPod // nil if there is none
	// Age is how long ago the last base backup was begun. It is measured, so it does not matter
	// whether a clock is right; only an operator that has just started goes by the date.
	Age time.Duration
	// Refusal is why the pod of the next one could not be made, or empty.
	Refusal string
}

// BackupPod is a pod that makes a base backup.
type BackupPod struct {
	UID                         types.UID
	Created                     time.Time
	Started                     bool          // whether its container was started
	Waits                       time.Duration // how long this operator has seen it
	Succeeded, Failed, Deleting bool
	Message                     string // the last that it has logged, if it has failed
}

// Disk is the PersistentVolumeClaim of a member.
type Disk int

// The states of a disk.
const (
	NoDisk Disk = iota
	DiskDeleting
	HasDisk
)

// Pod is the pod of a member. It has a finalizer of the operator, so it does not vanish before
// the operator has seen its end, even if it is deleted by force.
type Pod struct {
	UID types.UID
	// Started is whether its container was started. A pod that waits for a node or an image is
	// not replaced.
	Started bool
	// Ended is the proof that no process is left: the kubelet reports every container as
	// terminated, or the pod as failed. Pod garbage collection writes Failed, too, of a pod whose node
	// is lost: that is no proof.
	Ended    bool
	Deleting bool
	Role     Role // its label
	// Outdated is whether it differs from what the operator would make now, as by its image.
	Outdated bool
}

// Role is what a member does, as the Services select it.
type Role string

// The roles.
const (
	NoRole  Role = ""
	Primary Role = "primary"
	Standby Role = "standby"
)

// Lease is the Lease of the cluster. Only its holder may be writable.
type Lease struct {
	Holder  types.UID // of a pod; empty if it is free
	Expired bool      // it was not renewed for as long as it lasts
}

// tooSoon reports whether a pod may not be made yet.
func (o Observed) tooSoon(name string) bool { return slices.Contains(o.TooSoon, name) }

// member returns the one of that name. A member of which nothing is left has no disk and no pod.
func (o Observed) member(name string) Member {
	i := slices.IndexFunc(o.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Member{Name: name}
	}
	return o.Members[i]
}

// holder returns the member whose pod holds the Lease, if there is one.
func (o Observed) holder() (Member, bool) {
	i := slices.IndexFunc(o.Members, func(m Member) bool { return m.Pod != nil && m.Pod.UID == o.Lease.Holder })
	if i < 0 {
		return Member{}, false
	}
	return o.Members[i], true
}

// newestTimeline is the highest number of a timeline that any member is known to know.
func (o Observed) newestTimeline() (newest int32) {
	for _, m := range o.Members {
		if r := cmp.Or(m.Report, m.Last); r != nil {
			newest = max(newest, r.Timeline)
		}
	}
	return newest
}

// Lags are how much of the primary's log the standbys have not received, in bytes, by their names.
// The primary was asked after them, so none has more than it.
func (o Observed) Lags() map[string]LSN {
	primary := o.member(o.Cluster.Status.Primary)
	if !o.leads(primary) {
		return nil
	}
	lags := map[string]LSN{}
	for _, m := range o.Members {
		if m.Name != primary.Name && m.hasData() {
			lags[m.Name] = primary.Report.Received - min(m.Report.Received, primary.Report.Received)
		}
	}
	return lags
}

// alive reports whether the member's pod runs and is to go on.
func (m Member) alive() bool { return m.Pod != nil && !m.Pod.Ended && !m.Pod.Deleting }

// answers reports whether the agent in the present pod does.
func (m Member) answers() bool { return m.alive() && m.Report != nil && m.Report.UID == m.Pod.UID }

// hasData reports whether a member answers and has a database on its disk.
func (m Member) hasData() bool { return m.answers() && m.Report.Data == Complete }

// leads reports whether the member is the primary of the present term, and says that it takes
// writes.
func (o Observed) leads(m Member) bool {
	s := o.Cluster.Status
	return m.answers() && m.Name == s.Primary && m.Pod.UID == s.PrimaryUID && m.Report.Writable && m.Report.Term == s.Term
}
