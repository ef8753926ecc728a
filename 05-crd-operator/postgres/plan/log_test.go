package plan_test

// setNames changes whom commits wait for. Those that waited for somebody are acknowledged if
// nobody is named.
func (w *world) setNames(m *member) {
	m.names, m.position = m.seen.standby, m.log.length()
	if m.writable && m.names == 0 {
		w.acked |= m.log.set()
	}
}

// connect has a standby receive from a member.
func (w *world) connect(n, from int8, s *scope) {
	w.at(n).following = from
	if p := w.at(from); p.names == n && s.without != perConnection {
		p.position = p.log.length()
	}
}

// alone is the position of a primary without the names that it should have.
const alone = -1

// promote ends the recovery of a member, and with it its receiver.
func (w *world) promote(n int8, s *scope) {
	m := w.at(n)
	m.writable, m.following = true, 0
	if s.without != positionLate {
		m.position = m.log.length()
	}
	if m.names != m.seen.standby {
		m.position = alone
	}
	if w.lossAllowed(n) {
		w.loseBut(m.log)
	}
	w.givenUp &^= m.log.set() // it has them after all
	if w.leader = (leader{m.seen.term, w.podOf(n)}); m.names == 0 {
		w.acked |= m.log.set()
	}
}

// commit is one that a client begins.
func (w *world) commit(m *member, s *scope) bool {
	if !m.writable || w.commits == s.commits {
		return false
	}
	w.commits++
	m.log = m.log.add(w.commits)
	if m.names == 0 {
		w.acked |= m.log.set()
	}
	return true
}

// receive brings the next commit to a standby. The primary acknowledges what its named standby
// has.
func (w *world) receive(n int8) bool {
	m := w.at(n)
	if m.following == 0 || !w.streams(n, m.following) {
		return false
	}
	before, acked := m.log, w.acked
	from := w.at(m.following)
	m.log = from.log.beginning(m.log.length() + 1)
	if from.writable && from.names == n {
		w.acked |= m.log.set()
	}
	return m.log != before || w.acked != acked
}
