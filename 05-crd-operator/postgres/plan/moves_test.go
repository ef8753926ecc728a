package plan_test

import "slices"

// kind is what can happen. The faults come last.
type kind uint8

const (
	lookAt kind = iota
	ask
	decide
	act
	see
	seeLate
	seeAncient
	agentSteps
	commit
	receive
	kubeletEnds
	agentEnds
	recovery
	lapse
	expire
	replace
	wish
	allowLoss
	kill
	freeze
	cutOff
	unreachable
	podDeleted
	diskDeleted
	dataLost
)

// A move is something that happens, to a member.
type move struct {
	kind   kind
	member int8
	waited delay // decide
}

// free moves need neither a fault nor a person.
func (m move) free() bool { return m.kind < wish }

// moves visits all worlds that can come next, with the promise that is broken on the way.
func (s *scope) moves(w *world, visit func(m move, next *world, broken string)) {
	try := func(m move) {
		next := *w
		if next.apply(m, s) {
			promise := broken(w, m, &next, s)
			next.normalize(s)
			visit(m, &next, promise)
		}
	}
	switch {
	case w.pending.action != none:
		try(move{kind: act})
	case s.slow && w.look.at < atMembers:
		try(move{kind: lookAt + kind(w.look.at)})
	case w.waits():
		try(move{kind: decide, waited: 1})
		try(move{kind: decide, waited: 2})
		fallthrough
	default:
		try(move{kind: decide})
	}
	if w.holder != (pod{}) && !w.expired {
		try(move{kind: expire})
	}
	if s.second {
		try(move{kind: replace})
	}
	for n := int8(1); int(n) <= len(w.members); n++ {
		if m := w.at(n); m.alive() {
			for k := see; k <= lapse; k++ {
				if m.possible(k, w, s) {
					try(move{kind: k, member: n})
				}
			}
			if s.leave && w.status.phase == unsafe {
				try(move{kind: allowLoss, member: n})
			}
		}
		if m := w.at(n); w.faults > 0 && (m.disk != 0 || m.pod) {
			for _, k := range s.kinds {
				try(move{kind: k, member: n})
			}
		}
	}
	if int(w.wishes) < len(s.wishes) {
		try(move{kind: wish})
	}
}

// waits reports whether it matters how long the operator has waited.
func (w *world) waits() bool {
	if phases[w.status.phase] == "Electing" {
		return true
	}
	for i := range w.members {
		if m := &w.members[i]; m.alive() && (m.frozen || m.mute) {
			return true
		}
	}
	return false
}

// possible rules out most moves of a member before a world is copied.
func (m *member) possible(k kind, w *world, s *scope) bool {
	switch k {
	case see:
		return m.seen != w.status.view() || s.late && m.behind > 0
	case seeLate:
		return s.late && m.behind > 1
	case seeAncient:
		return s.oldest() > 0 && m.seen == view{}
	case commit:
		return m.writable
	case receive:
		return m.following != 0
	case kubeletEnds, agentEnds:
		return m.deleting
	case recovery:
		return m.frozen || m.cut || m.mute
	case lapse:
		return m.cut
	}
	return true
}

// apply has something happen, and reports whether that changed anything.
func (w *world) apply(m move, s *scope) bool {
	switch m.kind {
	case lookAt:
		w.look = look{observation: w.objects(), at: atObjects}
		return true
	case ask:
		w.look.at = atMembers
		w.look.hear(w, s.without == primaryLast)
		return true
	case decide:
		if s.slow {
			return w.decideSlowly(m.waited, s)
		}
		return w.decide(w.observe(m.waited), s)
	case act:
		return w.act(s)
	case wish:
		s.wishes[w.wishes](&w.spec)
		w.wishes++
		w.conflicts(s)
		return true
	case replace:
		w.pending, w.other = w.other, w.pending
		return w.pending != w.other
	case expire:
		return w.expire(s)
	}
	return w.applyTo(w.at(m.member), m, s)
}

func (w *world) applyTo(m *member, what move, s *scope) bool {
	switch what.kind {
	case see:
		return m.see(w.status.view(), 0)
	case seeLate:
		return m.see(w.past, 1)
	case seeAncient:
		return m.see(view{phase: seeding, primary: 1}, 2)
	case agentSteps:
		return w.step(what.member, s)
	case commit:
		return w.commit(m, s)
	case receive:
		return w.receive(what.member)
	case kubeletEnds:
		return m.kubelet()
	case agentEnds:
		return w.agentEnds(what.member)
	case recovery:
		return m.recovers()
	case lapse:
		return w.lapse(what.member)
	case allowLoss:
		return w.allowLoss(what.member, s)
	}
	if w.faults == 0 || !slices.Contains(s.kinds, what.kind) {
		return false
	}
	w.faults--
	return m.fault(what.kind)
}
