package plan_test

import "slices"

// decide is half of what the operator does. The other half may come much later.
func (w *world) decide(o observation, s *scope) bool {
	p := s.minds.decide(s.bendObservation(o))
	if p.action == writeStatus {
		if s.without == onlyPublished && p.status.phase == running && p.status.standby != 0 {
			p.status.synced = [2]int8{p.status.primary, p.status.standby}
		}
		if p.status == o.status {
			return false
		}
	}
	w.pending = p
	return p.action != none
}

// decideSlowly decides by a look that ends now, with the primary.
func (w *world) decideSlowly(waited delay, s *scope) bool {
	l := w.look
	w.look, l.waited = look{}, waited
	l.hear(w, s.without != primaryLast)
	w.decide(l.observation, s)
	if l.outdated {
		w.conflicts(s)
	}
	return true
}

// act is the other half. Each action is refused where Kubernetes would refuse it.
func (w *world) act(s *scope) bool {
	p := w.pending
	w.pending = pending{}
	switch p.action {
	case writeStatus:
		w.write(p.status, s)
		return true
	case freeLease:
		if w.holder == p.pod {
			w.holder, w.expired = pod{}, false
		}
		return true
	case removeFinalizer:
		w.finished = true
		return true
	}
	m := w.at(p.member)
	same := m.pod && w.podOf(p.member) == p.pod
	switch {
	case p.action == createMember && !m.pod && m.disk != deletingDisk:
		*m = member{disk: hasDisk, complete: m.complete, log: m.log, run: m.run + 1, pod: true, behind: s.oldest()}
	case p.action == deletePod && same && m.alive():
		m.deleting = true
	case p.action == removePod && same && m.ended:
		*m = member{disk: m.disk, complete: m.complete, log: m.log, run: m.run}
		m.reclaim()
	case p.action == deleteDisk:
		m.disk = deletingDisk
		m.reclaim()
	}
	return true
}

func (w *world) write(next status, s *scope) {
	was := w.status
	if w.status = next; w.lossAllowed(next.primary) {
		w.loseBut(w.at(next.primary).log)
	}
	if next.phase == recovering {
		w.acked = 0 // which the operator says
	}
	w.conflicts(s)
	if !s.late || next.view() == was.view() {
		return
	}
	w.past = was.view()
	for i := range w.members {
		if m := &w.members[i]; m.alive() {
			m.behind = min(m.behind+1, 2)
		}
	}
}

// loseBut gives up the acknowledged commits that are not in a log.
func (w *world) loseBut(l log) {
	w.givenUp |= w.acked &^ l.set()
	w.acked &= l.set()
}

// lossAllowed reports whether a person has allowed to promote a member in this term.
func (w *world) lossAllowed(n int8) bool {
	return n != 0 && w.spec.leaveMember == n && w.spec.leaveTerm == w.status.term
}

// oldest is how far a new pod may be behind.
func (s *scope) oldest() int8 {
	if s.old || s.without == firstLive {
		return 2
	}
	return 0
}

// conflicts is what a change of the cluster means for decisions that were made before it.
func (w *world) conflicts(s *scope) {
	if s.without != compareSwap {
		w.look.outdated = w.look.at > 0
		w.refuse(writeStatus, deleteDisk)
	}
}

// leaseChanges is what that means for a decision to free the Lease as it was. That it was not renewed
// meanwhile is no reason to free it: an operator may read and write it between two renewals.
func (w *world) leaseChanges() { w.refuse(freeLease) }

// refuse has decisions fall that were made on a version that is outdated now.
func (w *world) refuse(decided ...action) {
	for _, p := range []*pending{&w.pending, &w.other} {
		if slices.Contains(decided, p.action) {
			*p = pending{}
		}
	}
}

// The states of a disk, as numbers.
const (
	noDisk = iota
	deletingDisk
	hasDisk
)

// reclaim is the end of a disk that is being deleted, once no pod uses it.
func (m *member) reclaim() {
	if m.disk == deletingDisk && !m.pod {
		m.disk, m.complete, m.log = noDisk, false, log{}
	}
}
