package plan_test

import "example.com/hacking-a-controller/05-crd-operator/postgres/plan"

// see is the arrival of a status at a member.
func (m *member) see(v view, behind int8) bool {
	if !m.works() || m.cut {
		return false
	}
	m.seen, m.behind = v, behind
	return true
}

// holds reports whether a member believes that it holds the Lease.
func (w *world) holds(n int8) bool {
	return w.holder == w.podOf(n) && !w.expired && !w.at(n).lapsed
}

// source is the primary that a member has seen, as long as that takes writes.
func (w *world) source(m *member) *member {
	s := m.seen
	if s.primary == 0 || s.primaryPod != w.podOf(s.primary) || !w.at(s.primary).writable {
		return nil
	}
	return w.at(s.primary)
}

// step is the next one of a member.
func (w *world) step(n int8, s *scope) bool {
	m := w.at(n)
	if !m.works() {
		return false
	}
	o := opinion{pod: w.podOf(n), seen: m.seen, holds: w.holds(n), report: w.report(n)}
	if p := w.source(m); p != nil && p != m {
		o.diverged = m.log.hasDiverged(&p.log)
	}
	return w.do(n, s.minds.step(s.bendOpinion(o)), s)
}

// do does a step of a member, and reports whether it could be done.
func (w *world) do(n int8, next plan.Step, s *scope) bool {
	m := w.at(n)
	switch next {
	case plan.Keep:
		w.kept[n-1] |= m.log.set()
		return w.fill(m, plan.Wipe)
	case plan.InitDB, plan.Restore, plan.Clone, plan.Wipe:
		return w.fill(m, next)
	case plan.Start:
		m.running = true
	case plan.Follow:
		if !w.at(m.seen.primary).running {
			return false
		}
		w.connect(n, m.seen.primary, s)
	case plan.TakeLease:
		if m.cut || w.holder != (pod{}) && w.holder != w.podOf(n) {
			return false
		}
		w.holder, w.expired, m.lapsed = w.podOf(n), false, false
		w.leaseChanges()
	case plan.FreeOwnLease:
		if m.cut {
			return false
		}
		w.holder = pod{}
		w.leaseChanges()
	case plan.SetNames:
		w.setNames(m)
	case plan.Promote:
		w.promote(n, s)
	case plan.StopFast, plan.StopImmediate:
		m.stop()
	default:
		return false
	}
	return true
}

// fill changes what is on the disk.
func (w *world) fill(m *member, next plan.Step) bool {
	p := w.source(m)
	switch {
	case next == plan.InitDB:
		m.complete, m.log = true, log{}
	case next == plan.Restore:
		m.complete, m.log = true, log{}
		m.log.begin(m.seen.term)
	case next == plan.Wipe:
		m.stop()
		m.complete, m.log = false, log{}
	case p == nil:
		return false
	default:
		m.complete, m.log = true, p.log
	}
	return true
}

// stop ends PostgreSQL.
func (m *member) stop() {
	m.running, m.writable, m.following, m.names, m.position = false, false, 0, 0, 0
}

// end is that of a pod: the agent, and PostgreSQL with it.
func (m *member) end() {
	*m = member{disk: m.disk, complete: m.complete, log: m.log, run: m.run, pod: true, ended: true, deleting: m.deleting}
}
