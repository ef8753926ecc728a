package plan

import (
	"slices"
)

// serve is about a cluster with a primary. Its order is that of urgency.
func (o Observed) serve() Decision {
	if why := o.lost(); why != "" {
		return o.beginElection(why)
	}
	return first(o.unpublish, o.setRoles, o.repair, o.setStandby, o.updateLost, o.leave, o.join, o.update, o.switchover, o.backUp)
}

// lost is why the primary is one no more.
func (o Observed) lost() string {
	s := o.Cluster.Status
	m := o.member(s.Primary)
	switch {
	case m.Pod == nil || m.Pod.UID != s.PrimaryUID:
		return "its pod is gone"
	case m.Pod.Ended:
		return "its pod has ended"
	case m.Pod.Deleting:
		return "its pod is being deleted"
	case m.Silent > lostAfter && o.hasHeir():
		return "it does not answer"
	case m.answers() && m.Report.frozen() > unreachableAfter && (o.hasHeir() || m.Report.frozen() > replacedAfter):
		return "it accepts no connections any more"
	case m.answers() && !m.Report.Writable:
		return "it takes no writes any more"
	}
	return ""
}

// hasHeir reports whether there is a member to take over. Without one, an election would end a
// primary that may be fine but for its connection to the operator.
func (o Observed) hasHeir() bool {
	s := o.Cluster.Status
	heir := o.member(s.Standby)
	return slices.Contains(s.Synced, s.Standby) && heir.hasData() && heir.Report.frozen() == 0
}

// setRoles labels the pods, which the Services select. The new primary comes last, so that there
// are never two.
func (o Observed) setRoles() Decision {
	for _, role := range []Role{Standby, Primary} {
		for _, m := range o.Members {
			if m.alive() && m.Pod.Role != role && (m.Name == o.Cluster.Status.Primary) == (role == Primary) {
				return Decision{Action: SetRole, Member: m.Name, UID: m.Pod.UID, Role: role}
			}
		}
	}
	return Decision{}
}

// leaver is the member that is one too many, or empty: never the primary, nor one whose disk only a
// person may delete; the wish and the standby last, and before the others one that does not answer.
func (o Observed) leaver() string {
	s := o.Cluster.Status
	if len(o.Members) <= int(o.Cluster.Spec.Size) || !Serving(s.Phase) {
		return ""
	}
	worth := func(m Member) int {
		switch {
		case m.Name == o.Cluster.Spec.Primary:
			return 3
		case m.Name == s.Standby:
			return 2
		case m.answers():
			return 1
		}
		return 0
	}
	able := slices.DeleteFunc(slices.Clone(o.Members), func(m Member) bool { return m.Name == s.Primary || o.keeps(m) })
	if len(able) == 0 {
		return ""
	}
	leaver := slices.MinFunc(able, func(a, b Member) int {
		if w := worth(a) - worth(b); w != 0 {
			return w
		}
		return b.Number - a.Number
	})
	return leaver.Name
}

// leave removes the member that is one too many, once it is not synced.
func (o Observed) leave() Decision {
	name := o.leaver()
	if name == "" || slices.Contains(o.Cluster.Status.Synced, name) {
		return Decision{}
	}
	return o.remove(o.member(name))
}

// join adds a member, one at a time: all others have to stream.
func (o Observed) join() Decision {
	primary := o.member(o.Cluster.Status.Primary)
	if len(o.Members) >= int(o.Cluster.Spec.Size) || !o.leads(primary) || o.foreign() {
		return Decision{}
	}
	for _, m := range o.Members {
		if m.Name != primary.Name && !slices.Contains(primary.Report.Streaming, m.Name) {
			return Decision{}
		}
	}
	number := 1
	for slices.ContainsFunc(o.Members, func(m Member) bool { return m.Number == number }) {
		number++
	}
	name := MemberName(o.Cluster, number)
	if o.tooSoon(name) {
		return Decision{}
	}
	return Decision{Action: CreateMember, Member: name, Reason: "MemberJoins", Note: name + " joins"}
}

// switchover makes the member that is wanted the primary, once it is synced. A primary whose
// disk is being deleted hands over to its standby. One that is up to date does not hand over to
// one that is not: update would only hand back.
func (o Observed) switchover() Decision {
	s, to, why := o.Cluster.Status, o.Cluster.Spec.Primary, "is wanted"
	switch primary := o.member(s.Primary); {
	case primary.Disk != HasDisk:
		to, why = s.Standby, "is needed, because its disk is being deleted"
	case o.member(to).outdated() && !primary.outdated():
		return Decision{}
	}
	if to == "" || to == s.Primary || !slices.Contains(s.Synced, to) || !o.member(to).answers() {
		return Decision{}
	}
	return o.beginElection("a switchover to " + to + " " + why)
}
