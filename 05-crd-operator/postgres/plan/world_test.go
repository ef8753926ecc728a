package plan_test

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// A world is a cluster with its members, their logs, the Lease, and an operator that has
// decided something and not done it yet. It is the state of the search. Everything in it is a
// small number, since there are millions of worlds: members are 1, 2 and 3, and 0 is none.
type world struct {
	spec     spec
	status   status
	members  [3]member
	holder   pod // of the Lease; zero if it is free
	expired  bool
	pending  pending
	leader   leader   // the last member that was promoted
	commits  int8     // that were begun
	acked    uint8    // a bit for each commit that was acknowledged
	givenUp  uint8    // one for each that was, before a person allowed data loss
	kept     [3]uint8 // those that each member keeps beside its database
	faults   int8     // that may still happen
	wishes   int8     // how many of the scope's wishes have been uttered
	finished bool     // the cluster has no finalizer any more

	// These are used in few scopes.
	other pending // of a second operator
	past  view    // the one before the present one
	look  look    // what the operator has seen so far
}

// spec is what people want.
type spec struct {
	size, primary          int8
	leaveMember, leaveTerm int8 // allowDataLoss
	deleted                bool
	backup                 bool // there is a backup, of the empty database
}

// status is the part of the status on which something depends.
type status struct {
	phase      int8 // of phases
	term       int8
	primary    int8
	primaryPod pod
	standby    int8
	synced     [2]int8
	lost       uint8   // a bit for each member whose database was given up
	before     [2]int8 // the former ones
}

// view is the part of the status on which the steps of members depend.
type view struct {
	phase      int8
	term       int8
	primary    int8
	primaryPod pod
	standby    int8
	lost       uint8
}

func (s status) view() view { return view{s.phase, s.term, s.primary, s.primaryPod, s.standby, s.lost} }

func (v view) full() postgres.PostgresClusterStatus {
	return status{phase: v.phase, term: v.term, primary: v.primary, primaryPod: v.primaryPod, standby: v.standby, lost: v.lost}.full()
}

// member is what there is of a member.
type member struct {
	disk              int8 // a plan.Disk
	complete          bool
	log               log
	run               int8 // of its newest pod
	pod, ended        bool
	deleting          bool
	outdated          bool // its pod was made before the operator got another image
	frozen, cut, mute bool // cut off from the API server; from the operator
	lapsed            bool // its own deadline for the Lease has passed
	running, writable bool
	names             int8
	position          int8 // how much of the log has to be with a standby before it is synced
	following         int8
	seen              view
	behind            int8 // seen is the newest status, the one before it, or an older one
}

// pending is what the operator has decided.
type pending struct {
	action action
	member int8
	pod    pod
	status status
}

// leader is a pod that was promoted, and in which term.
type leader struct {
	term int8
	pod  pod
}

// A pod is an incarnation of a member. The zero value is none.
type pod struct{ member, run int8 }

// uid is the pod's UID for the code under test. Nothing but whether two are the same depends on it.
func (p pod) uid() types.UID {
	if p.run == 0 {
		return ""
	}
	return types.UID([]byte{'0' + byte(p.member), '.', '0' + byte(p.run)})
}

func podOf(uid types.UID) pod {
	if uid == "" {
		return pod{}
	}
	return pod{int8(uid[0] - '0'), int8(uid[2] - '0')}
}

// An action is the number of a plan.Action.
type action int8

var actions = []plan.Action{plan.None, plan.WriteStatus, plan.CreateMember, plan.DeletePod, plan.RemovePod, plan.DeleteDisk, plan.FreeLease, plan.RemoveFinalizer}

const (
	none action = iota
	writeStatus
	createMember
	deletePod
	removePod
	deleteDisk
	freeLease
	removeFinalizer
)

var phases = []postgres.Phase{"", postgres.Seeding, postgres.Running, postgres.Electing, postgres.Unsafe, postgres.Promoting, postgres.Deleting, postgres.Recovering}

const (
	seeding    = 1
	running    = 2
	unsafe     = 4
	promoting  = 5
	recovering = 7
)

var names = []string{"", "db-1", "db-2", "db-3", "db-4"}

func number(name string) int8 { return int8(slices.Index(names, name)) }

func (w *world) at(m int8) *member { return &w.members[m-1] }

// podOf is the newest pod of a member.
func (w *world) podOf(m int8) pod { return pod{m, w.at(m).run} }

func (m *member) alive() bool { return m.pod && !m.ended }

// works reports whether the agent takes steps.
func (m *member) works() bool { return m.alive() && !m.frozen }

func (s *status) isSynced(m int8) bool { return m != 0 && (s.synced[0] == m || s.synced[1] == m) }

// full is the status as the operator and members read it.
func (s status) full() postgres.PostgresClusterStatus {
	out := postgres.PostgresClusterStatus{Phase: phases[s.phase], Term: int64(s.term), Primary: names[s.primary], PrimaryUID: s.primaryPod.uid(), Standby: names[s.standby]}
	for _, m := range s.synced {
		if m != 0 {
			out.Synced = append(out.Synced, names[m])
		}
	}
	for m := range 3 {
		if s.lost&(1<<m) != 0 {
			out.Lost = append(out.Lost, postgres.LostData{Member: names[m+1]})
		}
	}
	for _, m := range s.before {
		if m != 0 {
			out.SyncedBefore = append(out.SyncedBefore, names[m])
		}
	}
	if s.phase == recovering {
		out.Restore = &postgres.RestoreFrom{Cluster: "db"}
	}
	return out
}

func short(s *postgres.PostgresClusterStatus) status {
	out := status{phase: int8(slices.Index(phases, s.Phase)), term: int8(s.Term), primary: number(s.Primary), primaryPod: podOf(s.PrimaryUID), standby: number(s.Standby)}
	for i, m := range s.Synced {
		out.synced[i] = number(m)
	}
	for _, l := range s.Lost {
		out.lost |= 1 << (number(l.Member) - 1)
	}
	for i, m := range s.SyncedBefore {
		out.before[i] = number(m)
	}
	return out
}
