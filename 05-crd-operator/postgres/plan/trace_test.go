package plan_test

import (
	"cmp"
	"fmt"
	"strings"
)

// trace says what happened, as a line of a trace.
func (m move) trace(before, after *world) string {
	name := names[m.member]
	switch m.kind {
	case decide:
		return "the operator decides, and is slow: " + after.pending.String()
	case lookAt:
		return "the operator sees the objects"
	case ask:
		return "the operator hears from " + after.look.heard()
	case act:
		return "the operator: " + before.pending.String()
	case see:
		return name + " sees that status"
	case seeLate:
		return fmt.Sprintf("%s sees an older status: %v", name, after.at(m.member).seen)
	case seeAncient:
		return name + " sees the first status that there was"
	case replace:
		return "another operator goes on"
	case agentSteps:
		return name + " " + difference(before, after, m.member)
	case commit:
		return fmt.Sprintf("%s takes commit %d", name, after.commits)
	case wish:
		return "a person wants " + after.spec.String()
	case allowLoss:
		return fmt.Sprintf("a person allows that %s is promoted in term %d", name, after.spec.leaveTerm)
	case expire:
		return "the Lease of " + names[before.holder.member] + " runs out"
	}
	return fmt.Sprintf(map[kind]string{
		receive: "%s receives a commit", kubeletEnds: "the kubelet ends the pod of %s", agentEnds: "the agent of %s ends well", recovery: "%s recovers", lapse: "the deadline of %s passes",
		kill: "FAULT: %s is killed", freeze: "FAULT: %s freezes", cutOff: "FAULT: %s cannot reach the API server", unreachable: "FAULT: the operator cannot reach %s",
		podDeleted: "FAULT: the pod of %s is deleted", diskDeleted: "FAULT: the disk of %s is deleted", dataLost: "FAULT: the data of %s are lost",
	}[m.kind], name)
}

func (s spec) String() string {
	if s.deleted {
		return "no cluster any more"
	}
	return fmt.Sprintf("size %d, primary %q", s.size, names[s.primary])
}

func (p pending) String() string {
	switch p.action {
	case writeStatus:
		return "WriteStatus " + p.status.String()
	case freeLease:
		return "FreeLease of " + names[p.pod.member]
	}
	return strings.TrimSpace(string(actions[p.action]) + " " + names[p.member])
}

func (v view) String() string {
	return fmt.Sprintf("{%s, term %d, primary %q, standby %q}", phases[v.phase], v.term, names[v.primary], names[v.standby])
}

func (s status) String() string {
	var synced []string
	for _, m := range s.synced {
		if m != 0 {
			synced = append(synced, names[m])
		}
	}
	return fmt.Sprintf("{%s, term %d, primary %q, standby %q, synced %v}", phases[s.phase], s.term, names[s.primary], names[s.standby], synced)
}

// difference is what a member's step has changed.
func difference(before, after *world, n int8) string {
	was, is := before.at(n), after.at(n)
	switch {
	case !was.complete && is.complete && was.seen.phase == seeding:
		return "makes a database"
	case !was.complete && is.complete:
		return "clones"
	case before.kept != after.kept:
		return "keeps its database beside"
	case was.complete && !is.complete:
		return "wipes its disk"
	case !was.running && is.running:
		return "starts PostgreSQL"
	case was.running && !is.running:
		return "stops PostgreSQL"
	case !was.writable && is.writable:
		return fmt.Sprintf("is promoted in term %d", is.seen.term)
	case was.names != is.names:
		return fmt.Sprintf("has its commits wait for %q", names[is.names])
	case was.following != is.following:
		return "follows " + names[is.following]
	case before.holder != after.holder && after.holder.member == n:
		return "takes the Lease"
	case before.holder != after.holder:
		return "frees the Lease"
	}
	return "renews the Lease"
}

// heard names those that have answered.
func (l *look) heard() string {
	var answered []string
	for i, m := range l.members {
		if m.report.run != 0 {
			answered = append(answered, names[i+1])
		}
	}
	return cmp.Or(strings.Join(answered, " and "), "nobody")
}
