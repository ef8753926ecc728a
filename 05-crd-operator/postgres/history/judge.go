package history

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// Judge returns what is wrong with a history. It takes it apart where a person allowed that data
// are lost: of what was acknowledged until then, nobody knows whether it is there later.
func Judge(h History) []Anomaly {
	ends := append(slices.Sorted(slices.Values(h.LossAllowed)), math.MaxInt64)
	var found []Anomaly
	begin := time.Duration(math.MinInt64)
	for _, end := range ends {
		j := newJudge(between(h.Transactions, begin, end))
		found = append(found, j.judge()...)
		begin = end
	}
	return append(found, twoPrimaries(h.Transactions)...)
}

// between returns the transactions that began until end. Those that did not end in the range count as
// unknown, and what they have read does not count.
func between(all []Transaction, begin, end time.Duration) []Transaction {
	var part []Transaction
	for _, t := range all {
		if t.Begin > end {
			continue
		}
		if (t.End <= begin || t.End > end) && t.Outcome == OK {
			t.Outcome = Unknown
		}
		part = append(part, t)
	}
	return part
}

type judge struct {
	all      []Transaction
	writer   map[int]int   // of a value: an index of all
	order    map[int][]int // of the values in a list, by its key
	position map[int]int   // of a value in its order
	final    bool          // whether the orders are what there was in the end
	bad      map[int]bool  // transactions whose lists are wrong: they are in no cycle
	found    []Anomaly
}

func newJudge(all []Transaction) *judge {
	j := &judge{all: all, writer: map[int]int{}, order: map[int][]int{}, position: map[int]int{}, bad: map[int]bool{}}
	for i, t := range all {
		for _, op := range t.Ops {
			if op.Append != 0 {
				j.writer[op.Append] = i
			}
		}
	}
	j.findOrder()
	return j
}

// findOrder finds the order in which values were appended: what the primary has in the end, or else
// the longest list that is sure to last. The first member to be read in the end is the primary.
func (j *judge) findOrder() {
	for _, t := range j.all {
		last := t.Source == Final && t.Outcome == OK
		if j.final || !last && (t.Source != Primary || t.Outcome != OK || !t.appends()) {
			continue
		}
		if last {
			j.final = true
			clear(j.order)
		}
		for _, op := range t.Ops {
			if op.Append == 0 && len(op.List) > len(j.order[op.Key]) {
				j.order[op.Key] = op.List
			}
		}
	}
	for _, list := range j.order {
		for i, value := range list {
			j.position[value] = i
		}
	}
}

func (j *judge) judge() []Anomaly {
	acknowledged := j.acknowledged()
	for i, t := range j.all {
		if t.Outcome != OK {
			continue
		}
		for n, op := range t.Ops {
			if op.Append == 0 {
				j.checkList(i, n, acknowledged[op.Key])
			}
		}
		if t.Source == Final {
			j.checkFinal(i)
		}
	}
	for i := range j.all {
		j.checkLasts(i)
	}
	j.checkCycles()
	return j.found
}

// checkList checks one list that a transaction has read.
func (j *judge) checkList(i, n int, acknowledged []acknowledgement) {
	t, op := j.all[i], j.all[i].Ops[n]
	if !j.checkValues(i, op) {
		return
	}
	own := t.appended(op.Key, n)
	if len(own) > len(op.List) || !slices.Equal(own, op.List[len(op.List)-len(own):]) {
		j.report(Internal, i, "transaction %d does not find in list %d what it has just appended", i, op.Key)
		return
	}
	known := commonPrefix(op.List, j.order[op.Key])
	if !j.final && known == len(j.order[op.Key]) {
		known = len(op.List) // nobody has read the list again who is sure to last
	}
	if !j.checkOrder(i, op, known) || t.Source != Primary {
		return
	}
	// What was acknowledged last before it began, of all that is there.
	before := sort.Search(len(acknowledged), func(k int) bool { return acknowledged[k].at >= t.Begin })
	if before > 0 && acknowledged[before-1].needs > known {
		late := acknowledged[before-1].transaction
		j.report(Stale, i, "transaction %d has read list %d without what transaction %d had appended, which was acknowledged before", i, op.Key, late)
		j.also(late)
	}
}

// checkOrder checks what a list has that is not in the order: it may be what was not acknowledged, and
// then lost.
func (j *judge) checkOrder(i int, op Op, known int) bool {
	t := j.all[i]
	for _, value := range op.List[known:] {
		_, there := j.position[value]
		switch {
		case t.Source == Final:
			j.report(MembersDiffer, i, "%s has %d in list %d, and another member has not, or at another place", t.Client, value, op.Key)
			return false
		case there || t.Source == Primary && t.appends() || j.all[j.writer[value]].Outcome == OK:
			j.report(Diverged, i, "transaction %d has read %d in list %d at a place where it is not in the end", i, value, op.Key)
			return false
		}
	}
	return true
}

// checkValues checks what is wrong with a list whatever the other lists are.
func (j *judge) checkValues(i int, op Op) bool {
	seen := map[int]bool{}
	for _, value := range op.List {
		w, ok := j.writer[value]
		switch {
		case !ok:
			j.report(Unwritten, i, "transaction %d has read %d in list %d, and nobody has appended that", i, value, op.Key)
		case seen[value]:
			j.report(Duplicate, i, "transaction %d has read %d twice in list %d", i, value, op.Key)
		case j.all[w].Outcome == Failed:
			j.report(Aborted, i, "transaction %d has read %d in list %d, and transaction %d, which appended it, has failed", i, value, op.Key, w)
			j.also(w)
		default:
			seen[value] = true
			continue
		}
		return false
	}
	for value := range seen {
		w := j.writer[value]
		for _, other := range j.all[w].appended(op.Key, len(j.all[w].Ops)) {
			if w != i && !seen[other] {
				j.report(Intermediate, i, "transaction %d has read %d in list %d without %d, which the same transaction appended", i, value, op.Key, other)
				j.also(w)
				return false
			}
		}
	}
	return true
}

// checkFinal checks that a member has all that another one has in the end. checkList has checked that it
// has no more.
func (j *judge) checkFinal(i int) {
	there := map[int][]int{}
	for _, op := range j.all[i].Ops {
		there[op.Key] = op.List
	}
	for key, list := range j.order {
		if known := commonPrefix(there[key], list); known < len(list) {
			j.report(MembersDiffer, i, "%s has not got %d in list %d, and another member has", j.all[i].Client, list[known], key)
			return
		}
	}
}

// checkLasts checks that what was acknowledged is there in the end, and that of each transaction
// all is there, or nothing.
func (j *judge) checkLasts(i int) {
	t := j.all[i]
	if !j.final || t.Outcome == Failed {
		return
	}
	var lost []int
	for _, op := range t.Ops {
		if _, there := j.position[op.Append]; op.Append != 0 && !there {
			lost = append(lost, op.Append)
		}
	}
	switch {
	case len(lost) == 0:
	case t.Outcome == OK:
		j.report(Lost, i, "transaction %d was acknowledged, and %v is not there in the end", i, lost)
	case j.committed(i):
		j.report(Torn, i, "a part of transaction %d is there in the end, and %v is not", i, lost)
	}
}

// committed says whether a transaction is known to be.
func (j *judge) committed(i int) bool {
	t := j.all[i]
	return t.Outcome == OK || t.Outcome == Unknown && slices.ContainsFunc(t.Ops, func(op Op) bool {
		_, there := j.position[op.Append]
		return there
	})
}

// acknowledgement says how long a list has to be that is read after a time.
type acknowledgement struct {
	at          time.Duration
	needs       int
	transaction int
}

// acknowledged returns the acknowledgements of each list in their order.
func (j *judge) acknowledged() map[int][]acknowledgement {
	lists := map[int][]acknowledgement{}
	for i, t := range j.all {
		for _, op := range t.Ops {
			if op.Append == 0 || t.Outcome != OK {
				continue
			}
			position, there := j.position[op.Append]
			if !there && j.final {
				continue // it is reported as lost
			} else if !there {
				position = len(j.order[op.Key])
			}
			lists[op.Key] = append(lists[op.Key], acknowledgement{t.End, position + 1, i})
		}
	}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b acknowledgement) int { return cmp.Compare(a.at, b.at) })
		for k := 1; k < len(list); k++ {
			if last := list[k-1]; last.needs > list[k].needs {
				list[k].needs, list[k].transaction = last.needs, last.transaction
			}
		}
	}
	return lists
}

// twoPrimaries finds a server that has acknowledged commits before and after another one did. A
// PostgreSQL that takes writes does so until it ends, and begins a timeline when it does so again.
func twoPrimaries(all []Transaction) []Anomaly {
	type reign struct{ server, timeline string }
	first, last := map[reign]int{}, map[reign]int{} // acknowledged first, begun last
	var writes []int
	for i, t := range all {
		if t.Source != Primary || t.Outcome != OK || !t.appends() || t.Server == "" {
			continue
		}
		r := reign{t.Server, t.Timeline}
		if f, ok := first[r]; !ok || t.End < all[f].End {
			first[r] = i
		}
		if l, ok := last[r]; !ok || t.Begin > all[l].Begin {
			last[r] = i
		}
		writes = append(writes, i)
	}
	for _, i := range writes {
		for r, f := range first {
			if t, l := all[i], last[r]; t.Server != r.server && t.Begin > all[f].End && t.End < all[l].Begin {
				j := &judge{all: all}
				j.report(TwoPrimaries, f, "transactions %d and %d ran on one server, and transaction %d between them on another one", f, l, i)
				j.also(i)
				j.also(l)
				return j.found
			}
		}
	}
	return nil
}

// appended returns what a transaction has appended to a list with its first operations.
func (t Transaction) appended(key, operations int) (values []int) {
	for _, op := range t.Ops[:operations] {
		if op.Key == key && op.Append != 0 {
			values = append(values, op.Append)
		}
	}
	return values
}

func commonPrefix(a, b []int) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
