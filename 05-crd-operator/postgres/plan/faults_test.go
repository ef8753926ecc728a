package plan_test

// fault is one of those that the scope has.
func (m *member) fault(k kind) bool {
	switch {
	case k == diskDeleted && m.disk == hasDisk:
		m.disk = deletingDisk
		m.reclaim()
		return true
	case k == dataLost && m.complete:
		if m.pod {
			m.end()
		}
		m.complete, m.log = false, log{}
		return true
	case !m.alive():
		return false
	}
	was := *m
	switch k {
	case kill:
		m.end()
	case freeze:
		m.frozen = true
	case cutOff:
		m.cut = true
	case unreachable:
		m.mute = true
	case podDeleted:
		m.deleting = true
	}
	return *m != was
}

// recovers ends what goes by.
func (m *member) recovers() bool {
	if !m.frozen && !m.cut && !m.mute {
		return false
	}
	m.frozen, m.cut, m.mute = false, false, false
	return true
}

// kubelet ends a pod that is being deleted.
func (m *member) kubelet() bool {
	if !m.deleting {
		return false
	}
	m.end()
	return true
}

// agentEnds is what an agent does that the kubelet tells to end: it stops PostgreSQL, frees its Lease,
// and does nothing more, until the kubelet ends the pod.
func (w *world) agentEnds(n int8) bool {
	m := w.at(n)
	if !m.deleting || !m.works() || m.cut || !w.holds(n) {
		return false
	}
	m.stop()
	m.frozen, w.holder = true, pod{}
	w.leaseChanges()
	return true
}

// lapse is a member's own deadline, which comes before the end of the Lease.
func (w *world) lapse(n int8) bool {
	m := w.at(n)
	if m.frozen || !m.cut || !w.holds(n) {
		return false
	}
	m.lapsed = true
	return true
}

// expire is the end of a Lease that nobody renews. Before it comes, the holder has stopped, or,
// if it is frozen, its pod was killed.
func (w *world) expire(s *scope) bool {
	if w.holder == (pod{}) || w.expired {
		return false
	}
	m := w.at(w.holder.member)
	gone := !m.alive() || m.run != w.holder.run
	stopped := m.lapsed && !m.writable
	w.expired = gone || stopped || m.frozen && s.hole
	return w.expired
}

// allowLoss is what a person does who reads that the cluster is Unsafe.
func (w *world) allowLoss(n int8, s *scope) bool {
	was := w.spec
	w.spec.leaveMember, w.spec.leaveTerm = n, w.status.term
	w.conflicts(s)
	return w.spec != was
}
