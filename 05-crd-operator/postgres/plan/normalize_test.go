package plan_test

// normalize makes worlds equal that differ in nothing on which anything depends. Of terms and
// of pods, all that counts is which are the same, and that the next one is new. So they are
// counted from one again, and a search ends though elections and restarts may go on for ever.
func (w *world) normalize() {
	if w.spec.leaveTerm != w.status.term {
		w.spec.leaveTerm, w.spec.leaveMember = 0, 0
	}
	w.forgetLeader()
	renumber([]*int8{&w.status.term, &w.pending.status.term, &w.leader.term, &w.spec.leaveTerm, &w.members[0].seen.term, &w.members[1].seen.term, &w.members[2].seen.term, &w.past.term, &w.other.status.term})
	for i := range w.members {
		if w.members[i].run > 1 {
			w.normalizePods(int8(i + 1))
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
	places := [...]*pod{&w.holder, &w.status.primaryPod, &w.pending.pod, &w.pending.status.primaryPod, &w.leader.pod, &w.members[0].seen.primaryPod, &w.members[1].seen.primaryPod, &w.members[2].seen.primaryPod, &w.past.primaryPod, &w.other.pod, &w.other.status.primaryPod}
	var runs [len(places) + 1]*int8
	runs[0] = &w.at(n).run
	used := 1
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
