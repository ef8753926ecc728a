package plan_test

// normalize makes worlds equal that differ in nothing on which anything depends. Of terms and
// of pods, all that counts is which are the same, and that the next one is new. So they are
// counted from one again, and a search ends though elections and restarts may go on forever. A
// timeline has the number of a term, and is counted with them.
func (w *world) normalize(s *scope) {
	if w.spec.leaveTerm != w.status.term {
		w.spec.leaveTerm, w.spec.leaveMember = 0, 0
	}
	w.forgetLeader()
	w.forgetTimelines()
	if s.without != ownNumber && s.without != oncePerTerm { // without these, it matters which number is the next
		w.normalizeTerms()
	}
	for i := range w.members {
		if w.members[i].run > 1 {
			w.normalizePods(int8(i + 1))
		}
	}
}

func (w *world) normalizeTerms() {
	numbers := append(make([]*int8, 0, 12+len(w.members)*(4+maxForks)), &w.status.term, &w.pending.status.term, &w.leader.term, &w.spec.leaveTerm, &w.past.term, &w.other.status.term, &w.look.status.term, &w.look.spec.leaveTerm)
	if w.status.before[0] != 0 { // whether a timeline is older than the last term matters
		last := w.status.term - 1
		numbers = append(numbers, &last)
	}
	for i := range w.members {
		m, heard := &w.members[i], &w.look.members[i].report
		numbers = append(numbers, &m.seen.term, &m.log.timeline, &heard.term, &heard.timeline)
		for f := range m.log.begun {
			numbers = append(numbers, &m.log.forks[f].timeline)
		}
	}
	renumber(numbers)
}

// forgetTimelines forgets those that no log ends on, and after which all logs that have them go on
// alike: they tell no two logs apart.
func (w *world) forgetTimelines() {
	for i := range w.members {
		l := &w.members[i].log
		for f := int8(0); f < l.begun; {
			if w.distinguishes(l.forks[f].timeline, l.after(f)) {
				f++
				continue
			}
			w.forget(l.forks[f].timeline)
		}
	}
}

// after is how a log goes on after one of its timelines: where that ended, and which came then.
func (l *log) after(f int8) fork {
	if f+1 < l.begun {
		return fork{l.forks[f+1].timeline, l.forks[f].at}
	}
	return fork{l.timeline, l.forks[f].at}
}

func (w *world) distinguishes(timeline int8, next fork) bool {
	for i := range w.members {
		m := &w.members[i]
		if m.complete && m.log.timeline == timeline {
			return true
		}
		for f := range m.log.begun {
			if m.log.forks[f].timeline == timeline && m.log.after(f) != next {
				return true
			}
		}
	}
	return false
}

func (w *world) forget(timeline int8) {
	for i := range w.members {
		l := &w.members[i].log
		for f := int8(0); f < l.begun; f++ {
			if l.forks[f].timeline == timeline {
				copy(l.forks[f:], l.forks[f+1:])
				l.begun--
				l.forks[l.begun] = fork{}
				break
			}
		}
	}
}

// forgetLeader forgets who led in a term that nobody knows any more.
func (w *world) forgetLeader() {
	t := w.leader.term
	for i := range w.members {
		if w.members[i].seen.term == t {
			return
		}
	}
	if w.status.term != t && w.past.term != t {
		w.leader = leader{}
	}
}

func (w *world) normalizePods(n int8) {
	places := [...]*pod{&w.holder, &w.status.primaryPod, &w.pending.pod, &w.pending.status.primaryPod, &w.leader.pod, &w.members[0].seen.primaryPod, &w.members[1].seen.primaryPod, &w.members[2].seen.primaryPod, &w.past.primaryPod, &w.other.pod, &w.other.status.primaryPod, &w.look.holder, &w.look.status.primaryPod}
	var runs [len(places) + 3]*int8
	seen := &w.look.members[n-1]
	runs[0], runs[1], runs[2] = &w.at(n).run, &seen.run, &seen.report.run
	used := 3
	for _, p := range places {
		if p.member == n && p.run != 0 {
			runs[used] = &p.run
			used++
		}
	}
	renumber(runs[:used])
}

// renumber replaces the lowest number but zero by one, the next one by two, and so on.
func renumber(numbers []*int8) {
	for next := int8(1); ; next++ {
		lowest := int8(127)
		for _, n := range numbers {
			if *n >= next && *n < lowest {
				lowest = *n
			}
		}
		if lowest == 127 {
			return
		}
		for _, n := range numbers {
			if *n == lowest {
				*n = next
			}
		}
	}
}
