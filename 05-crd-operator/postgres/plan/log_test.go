package plan_test

import (
	"slices"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// log is what a member has: the commits, and the timelines that they are on, as PostgreSQL knows
// them. A timeline is counted from zero here, so that it has the number of its term.
type log struct {
	commits
	timeline int8 // the last one
	forks    [maxForks]fork
	begun    int8 // how many of these there are
}

const maxForks = 6

// fork is where a timeline ended and the next one began.
type fork struct{ timeline, at int8 }

// commits are in order: one in two bits, so there are three at most.
type commits uint8

func (c commits) length() (n int8) {
	for ; c != 0; c >>= 2 {
		n++
	}
	return n
}

func (c commits) add(commit int8) commits { return c | commits(commit)<<(2*c.length()) }

// set is the commits as bits.
func (c commits) set() (bits uint8) {
	for ; c != 0; c >>= 2 {
		bits |= 1 << (c & 3)
	}
	return bits
}

// beginning is the first of them.
func (c commits) beginning(n int8) commits { return c & (1<<(2*n) - 1) }

// end is where a log ends, as the code under test has it.
func (l *log) end() plan.Position {
	return plan.Position{Timeline: int32(l.timeline) + 1, At: plan.LSN(l.length())}
}

func (l *log) history() []plan.Fork {
	var history [maxForks]plan.Fork
	for i, f := range l.forks[:l.begun] {
		history[i] = plan.Fork{Timeline: int32(f.timeline) + 1, At: plan.LSN(f.at)}
	}
	return history[:l.begun]
}

// hasDiverged asks the code under test.
func (l *log) hasDiverged(primary *log) bool {
	return *l != *primary && plan.HasDiverged(l.end(), primary.end(), l.history(), primary.history())
}

// begin begins a timeline.
func (l *log) begin(timeline int8) {
	l.forks[l.begun] = fork{l.timeline, l.length()}
	l.begun++
	l.timeline = timeline
}

// isSent reports whether PostgreSQL sends its log to a standby that has this one: it looks at where
// that ends, and at nothing else.
func (l *log) isSent(from *log) bool {
	if l.timeline == from.timeline {
		return l.length() <= from.length()
	}
	i := slices.IndexFunc(from.forks[:from.begun], func(f fork) bool { return f.timeline == l.timeline })
	return i >= 0 && l.length() <= from.forks[i].at
}

// goesOn has a log go on as another one does: its last timeline is the last that begins before its
// end. What it has stays, be it the same or not.
func (l *log) goesOn(from *log) {
	n := l.length()
	l.timeline, l.forks, l.begun = from.timeline, from.forks, from.begun
	for ; l.begun > 0 && l.forks[l.begun-1].at > n; l.begun-- {
		l.timeline, l.forks[l.begun-1] = l.forks[l.begun-1].timeline, fork{}
	}
}

// receive takes the next commit of another log, if there is one.
func (l *log) receive(from *log) {
	n := l.length()
	l.commits |= from.beginning(n+1) &^ from.beginning(n)
	l.goesOn(from)
}

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
	m := w.at(n)
	if m.following = from; w.streams(n, from) {
		m.log.goesOn(&w.at(from).log)
	}
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
	m.log.begin(s.nextTimeline(m))
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

// nextTimeline is the one that a promotion begins. PostgreSQL by itself would take the next one that the
// member does not know.
func (s *scope) nextTimeline(m *member) int8 {
	if s.without == ownNumber {
		return m.log.timeline + 1
	}
	return max(int8(plan.TimelineOf(int64(m.seen.term)))-1, m.log.timeline+1)
}

// commit is one that a client begins.
func (w *world) commit(m *member, s *scope) bool {
	if !m.writable || w.commits == s.commits {
		return false
	}
	w.commits++
	m.log.commits = m.log.add(w.commits)
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
	m.log.receive(&from.log)
	if from.writable && from.names == n {
		w.acked |= from.log.beginning(m.log.length()).set()
	}
	return m.log != before || w.acked != acked
}
