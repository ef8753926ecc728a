package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
)

// Describe puts into a status what people see. No decision depends on it. It
// reports whether anything has changed.
func (o Observed) Describe(s *postgres.PostgresClusterStatus) bool {
	before := s.DeepCopy()
	if Serving(s.Phase) {
		switch members := len(o.Members); {
		case members < int(o.Cluster.Spec.Size):
			s.Phase = postgres.Joining
		case members > int(o.Cluster.Spec.Size):
			s.Phase = postgres.Leaving
		default:
			s.Phase = postgres.Running
		}
	}
	if primary := o.member(s.Primary); s.Version == "" && o.leads(primary) {
		s.Version = Major(primary.Report.Version) // of a cluster that an older operator has made
	}
	s.ObservedGeneration = o.Cluster.Generation
	s.Selector = SelectorLabel + "=" + o.Cluster.Name
	o.describeMembers(s)
	o.describeBackup(s)
	o.describeConditions(s)
	return !equality.Semantic.DeepEqual(before, s)
}

func (o Observed) describeMembers(s *postgres.PostgresClusterStatus) {
	s.Members, s.Replicas = nil, 0
	for _, m := range o.Members {
		member := postgres.MemberStatus{Name: m.Name, Storage: m.Storage, Full: m.full()}
		if m.answers() && Serving(s.Phase) && (m.Report.Data != Complete || m.Report.Running && m.Name != s.Primary && m.Report.Following != s.Primary) {
			member.Trouble = m.Report.Trouble
		}
		if m.answers() && m.Report.Running {
			member.Unreachable = o.unreachable(m)
			member.Ready, member.Timeline, member.Address = member.Unreachable == "", m.Report.Timeline, m.Report.Address
			member.Version = m.Report.Version
			member.Role = string(Standby)
			if m.Report.Writable {
				member.Role = string(Primary)
			}
			if member.Ready {
				s.Replicas++
			}
		}
		s.Members = append(s.Members, member)
	}
}

func (o Observed) describeConditions(s *postgres.PostgresClusterStatus) {
	set := func(name string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: name, Status: status, Reason: reason, Message: message, ObservedGeneration: o.Cluster.Generation, LastTransitionTime: metav1.NewTime(o.Now)})
	}
	primary, wait := o.member(s.Primary), o.commitsWait(*s)
	switch why := o.unreachable(primary); {
	case Serving(s.Phase) && why != "":
		set(postgres.Available, metav1.ConditionFalse, string(primary.Report.Unreachable.Cause), why)
	case Serving(s.Phase) && wait != "":
		set(postgres.Available, metav1.ConditionTrue, "Serving", s.Primary+" is the primary; "+wait)
	case Serving(s.Phase):
		set(postgres.Available, metav1.ConditionTrue, "Serving", s.Primary+" is the primary")
	case s.Phase == "":
		set(postgres.Available, metav1.ConditionFalse, "Waiting", "nothing has begun")
	default:
		if Serving(o.Cluster.Status.Phase) { // Leaderless begins now, even if clients could not connect before
			meta.RemoveStatusCondition(&s.Conditions, postgres.Available)
		}
		set(postgres.Available, metav1.ConditionFalse, string(s.Phase), o.whyNone(s.Phase))
	}
	// A synced member whose disk is gone counts in an election, but not here.
	disks := slices.DeleteFunc(slices.Clone(s.Synced), func(name string) bool { return o.member(name).Disk != HasDisk })
	switch why := o.asynchronous(*s); {
	case why != "":
		set(postgres.Redundant, metav1.ConditionFalse, AsynchronousCommits, why)
	case len(disks) == 2 && wait != "": // this is one fault already
		set(postgres.Redundant, metav1.ConditionFalse, "StandbyAway", wait+"; until it receives, or another standby does, no commit is acknowledged")
	case len(disks) == 2:
		set(postgres.Redundant, metav1.ConditionTrue, "TwoDisks", "every acknowledged commit is on the disks of "+strings.Join(disks, " and "))
	case len(disks) == 1:
		set(postgres.Redundant, metav1.ConditionFalse, "OneDisk", fmt.Sprintf("the latest acknowledged commits may be on one disk only %v", disks)+troubles(*s))
	default:
		set(postgres.Redundant, metav1.ConditionFalse, "NoDisk", "no disk that is there is known to hold every acknowledged commit")
	}
	if reason, refusal := o.refusal(); refusal != "" {
		set(postgres.Accepted, metav1.ConditionFalse, reason, refusal)
	} else {
		set(postgres.Accepted, metav1.ConditionTrue, "Valid", "")
	}
	if problem := o.noSpace(*s); problem != "" {
		set(postgres.HasSpace, metav1.ConditionFalse, "DiskFull", problem)
	} else {
		set(postgres.HasSpace, metav1.ConditionTrue, "SpaceLeft", "no disk of a member is nearly full")
	}
	if o.Cluster.Spec.Backup == nil {
		meta.RemoveStatusCondition(&s.Conditions, postgres.BackedUp)
		return
	}
	switch reason, message := o.notBackedUp(s.Backup); reason {
	case "":
		set(postgres.BackedUp, metav1.ConditionTrue, "Verified", "the last base backup was restored on trial, and the log is archived")
	default:
		set(postgres.BackedUp, metav1.ConditionFalse, reason, message)
	}
}

// AsynchronousCommits is why a cluster is not Redundant although a standby is synced.
const AsynchronousCommits = "AsynchronousCommits"

// asynchronous is why commits were acknowledged that may be on the primary's disk only, or empty.
// A primary that does not answer has said it last, and of one that is lost, it is still true.
func (o Observed) asynchronous(s postgres.PostgresClusterStatus) string {
	primary := o.member(s.Primary)
	report := cmp.Or(primary.Report, primary.Last)
	switch before := meta.FindStatusCondition(s.Conditions, postgres.Redundant); {
	case s.Primary == "" && before != nil && before.Reason == AsynchronousCommits:
		return before.Message
	case report == nil || report.Asynchronous == "":
		return ""
	}
	return "acknowledged commits may be on the disk of " + s.Primary + " only: " + report.Asynchronous
}

// commitsWait is why no commit is acknowledged, or empty: the standby that has to have them receives
// none. Of a primary that does not answer, its last report counts.
func (o Observed) commitsWait(s postgres.PostgresClusterStatus) string {
	primary := o.member(s.Primary)
	report := cmp.Or(primary.Report, primary.Last)
	if s.Standby == "" || report == nil || !report.Writable || slices.Contains(report.Streaming, s.Standby) {
		return ""
	}
	return fmt.Sprintf("commits wait for %s, which does not receive: %s", s.Standby, cmp.Or(o.member(s.Standby).ails(), "it does not stream yet"))
}

// troubles is why standbys have no copy of the database, or do not receive.
func troubles(s postgres.PostgresClusterStatus) (all string) {
	for _, m := range s.Members {
		switch {
		case LacksCopy(m):
			all += fmt.Sprintf("; %s has no copy: %s", m.Name, m.Trouble)
		case m.Trouble != "":
			all += fmt.Sprintf("; %s does not receive: %s", m.Name, m.Trouble)
		}
	}
	return all
}

// LacksCopy reports whether a member has failed to copy the database. One that only fails to follow has
// a role, for its PostgreSQL runs.
func LacksCopy(m postgres.MemberStatus) bool { return m.Trouble != "" && m.Role == "" }

// whyNone is why there is no primary.
func (o Observed) whyNone(phase postgres.Phase) string {
	if phase == postgres.Unsafe && len(o.Members) == 0 {
		return "there is no primary: " + o.unrecoverable()
	}
	if phase == postgres.Unsafe {
		return "there is no primary: " + o.whyNobody()
	}
	for _, m := range o.Members {
		if m.answers() && m.Report.Trouble != "" {
			return fmt.Sprintf("there is no primary; %s: %s", m.Name, m.Report.Trouble)
		}
	}
	return "there is no primary"
}
