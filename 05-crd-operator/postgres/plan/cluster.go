// Package plan is all that is decided about a PostgresCluster, by the operator and by its
// members. It does nothing: no client, no clock, no PostgreSQL.
//
//	observed.go  what the operator observes
//	cluster.go   what it may do, and how it decides
//	seed.go      the first member
//	serve.go     there is a primary: repair, size, switchover
//	update.go    pods that are outdated, one at a time
//	standby.go   whom commits wait for
//	elect.go     there is no primary: fence, choose, promote
//	reach.go     members that no new client can connect to
//	backup.go    when the database is backed up
//	recover.go   all disks are lost
//	lost.go      what a person has given up is kept
//	delete.go    the end
//	synced.go    who has every acknowledged commit, if the last promotion has failed
//	unsafe.go    why nobody can be chosen
//	report.go    what a member observes
//	timeline.go  which timeline a promotion begins, and whether two logs have diverged
//	member.go    its next step
//	describe.go  what people see in the status
//
// Three ideas carry it. A pod is one run of an agent, so its UID names a process, and a member
// that comes back is not mistaken for what was there before. The status decides who should be
// the primary; the Lease makes sure that there is one at most. And status.synced lists the
// members whose disks hold every acknowledged commit; only one of them is ever promoted.
package plan

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// These are the times that decisions depend on.
const (
	// lostAfter is how long a primary may be silent before another one is elected.
	lostAfter = 3 * time.Second
	// unsafeAfter is how long an election may find nobody before people are told.
	unsafeAfter = 10 * time.Second
	// replacedAfter is how long any member may be silent before its pod is replaced.
	replacedAfter = 20 * time.Second
	// LeaseDuration is how long the Lease lasts without a change, by the clock of the operator.
	// A holder that cannot renew it kills its PostgreSQL earlier.
	LeaseDuration = 8 * time.Second
)

// Action is what the operator does. Each is one request, or can be repeated.
type Action string

// The actions.
const (
	None            Action = ""
	WriteStatus     Action = "WriteStatus"     // refused if the cluster was changed meanwhile
	CreateMember    Action = "CreateMember"    // its disk if there is none, and its pod
	DeletePod       Action = "DeletePod"       // its containers get a second to end
	RemovePod       Action = "RemovePod"       // one that has ended: with its finalizer
	DeleteDisk      Action = "DeleteDisk"      // refused if the cluster was changed meanwhile
	FreeLease       Action = "FreeLease"       // refused if it was renewed or taken meanwhile
	SetRole         Action = "SetRole"         // the label of a pod
	CreateBackup    Action = "CreateBackup"    // the pod that makes a base backup of a member
	DeleteBackup    Action = "DeleteBackup"    // that pod
	RemoveFinalizer Action = "RemoveFinalizer" // of the cluster
)

// Decision is one action at most, and why.
type Decision struct {
	Action Action
	Member string                          // of all but WriteStatus, FreeLease, RemoveFinalizer
	UID    types.UID                       // of the pod: DeletePod, RemovePod, SetRole, FreeLease
	Role   Role                            // SetRole
	Status *postgres.PostgresClusterStatus // WriteStatus
	// Reason and Note are the event that is recorded once it is done, unless Reason is empty.
	Reason, Note string
	Warning      bool // the event is one
	// Updates is the member that all this is for because its pod is outdated, or empty.
	Updates string
}

// Cluster decides what the operator does next.
func Cluster(o Observed) Decision {
	switch {
	case o.Cluster.DeletionTimestamp != nil:
		return o.delete()
	case o.Cluster.Spec.Paused:
		return o.release()
	}
	switch o.Cluster.Status.Phase {
	case "", postgres.Seeding, postgres.Recovering:
		return o.seed()
	case postgres.Electing, postgres.Unsafe:
		return o.elect()
	case postgres.Promoting:
		return o.await()
	default:
		return o.serve()
	}
}

// first is the first decision to do something.
func first(decisions ...func() Decision) Decision {
	for _, decide := range decisions {
		if d := decide(); d.Action != None {
			return d
		}
	}
	return Decision{}
}

// write decides to change the status.
func (o Observed) write(reason, note string, change func(*postgres.PostgresClusterStatus)) Decision {
	status := o.Cluster.Status.DeepCopy()
	change(status)
	return Decision{Action: WriteStatus, Status: status, Reason: reason, Note: note}
}

// Serving reports whether there is a primary that took writes.
func Serving(p postgres.Phase) bool {
	return p == postgres.Running || p == postgres.Joining || p == postgres.Leaving
}

// Making reports whether the first member is making the database, of a backup or of nothing.
func Making(p postgres.Phase) bool { return p == postgres.Seeding || p == postgres.Recovering }

// repair gives each member that is to stay a pod that runs. A pod that has the last copy of the
// data is left alone even if its disk is being deleted: the disk stays for as long as the pod.
func (o Observed) repair() Decision {
	leaver := o.leaver()
	if o.foreign() {
		return o.release() // what ends now could not be made again
	}
	for _, m := range o.Members {
		silent := m.Silent > replacedAfter && m.alive() && m.Pod.Started
		needless := m.Disk != HasDisk && !slices.Contains(slices.Concat(o.Cluster.Status.Synced, o.Cluster.Status.SyncedBefore), m.Name)
		switch {
		case m.Name == leaver:
		case m.Pod == nil && m.Disk == HasDisk && !o.tooSoon(m.Name):
			return Decision{Action: CreateMember, Member: m.Name}
		case m.Pod != nil && m.Pod.Ended:
			return Decision{Action: RemovePod, Member: m.Name, UID: m.Pod.UID, Reason: "MemberEnded", Note: fmt.Sprintf("the pod of %s has ended and is created again", m.Name)}
		case silent:
			return o.deletePod(m, "MemberLost", m.Name+" does not answer; its pod is replaced")
		case m.outdated() && !m.Pod.Started: // it waits for what it may never get, such as its image
			return o.replace(m)
		case m.alive() && needless:
			return o.deletePod(m, "MemberLost", fmt.Sprintf("the disk of %s is being deleted; it is created again", m.Name))
		}
	}
	return Decision{}
}

// release lets go of a pod that somebody has deleted, once it has ended, where nothing else is done: its
// node may be drained, or its namespace deleted. A namespace deletes its pods first, and waits for them.
func (o Observed) release() Decision {
	for _, m := range o.Members {
		if m.Pod != nil && m.Pod.Deleting && m.Pod.Ended {
			return Decision{Action: RemovePod, Member: m.Name, UID: m.Pod.UID}
		}
	}
	return Decision{}
}

func (o Observed) deletePod(m Member, reason, note string) Decision {
	return Decision{Action: DeletePod, Member: m.Name, UID: m.Pod.UID, Reason: reason, Note: note}
}

// MemberName is the name of a member's pod and disk. The first has the number 1.
func MemberName(cluster *postgres.PostgresCluster, number int) string {
	return fmt.Sprintf("%s-%d", cluster.Name, number)
}
