package podruntime

import (
	"sync"
	"time"
)

// totals are the sums of all namespaces that have pods.
//
// A sum that goes through the pods, as that of first/, takes longer the more pods there
// are: `make bench-4` measures both.
type totals struct {
	mu   sync.Mutex
	sums map[string]*sum
}

func newTotals() *totals { return &totals{sums: map[string]*sum{}} }

// replace takes out what a pod was, and puts in what it is. A new pod was nil, a
// deleted one is nil. It reports whether the sum has changed course: whether a pod
// came or went, began to run or ended. No other change makes a difference.
func (t *totals) replace(was, is *pod) (changed bool) {
	if was != nil && is != nil && was.uid == is.uid && was.life == is.life {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if was != nil {
		t.of(was.namespace).count(was.life, -1)
	}
	if is != nil {
		t.of(is.namespace).count(is.life, 1)
	} else if t.of(was.namespace).pods == 0 {
		// Namespaces come and go. A program that runs for months must not keep all
		// of them.
		delete(t.sums, was.namespace)
	}
	return true
}

// of is the sum of a namespace, to be changed under the lock.
func (t *totals) of(namespace string) *sum {
	if t.sums[namespace] == nil {
		t.sums[namespace] = &sum{}
	}
	return t.sums[namespace]
}

// seconds is the total of one namespace.
func (t *totals) seconds(namespace string, now time.Time) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.sums[namespace]; ok {
		return s.seconds(now)
	}
	return 0
}

// all are the totals of all namespaces.
func (t *totals) all(now time.Time) map[string]float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[string]float64, len(t.sums))
	for namespace, s := range t.sums {
		all[namespace] = s.seconds(now)
	}
	return all
}

// life is when a pod began to run and when it ended, in seconds since 1970, as
// the API has its times. 0 means: not yet.
type life struct {
	start, end int64
}

// at is for how long the pod had been running at that time. The clocks of nodes are not
// ours: of a pod that begins later than now, or has ended later, it is what was until now.
func (l life) at(now int64) int64 {
	if l.start == 0 {
		return 0
	}
	if l.end == 0 || l.end > now {
		return max(0, now-l.start)
	}
	return l.end - l.start
}

// sum is for how long many pods have been running, all together. To go through the
// pods would be
//
//	(now - start) + (now - start) + ...  of those that run
//	+ (end - start) + (end - start) + ...  of those that ended
//
// and three numbers are enough to know it at any time:
//
//	running * now - starts + ended
//
// A pod that changes takes its old part out of them and puts its new one in.
// That costs the same however many pods there are. A part can be put in when both
// times are past: until then, by our clock, it waits in ahead.
type sum struct {
	pods    int64          // all, with those that have not begun to run
	running int64          // how many run
	starts  int64          // when those began, added up
	ended   int64          // for how long the others ran
	ahead   map[life]int64 // how many have these times, of which one may be in the future
}

// count adds a pod with sign 1, and takes it away with sign -1.
func (s *sum) count(l life, sign int64) {
	s.pods += sign
	switch {
	case l.start == 0:
	case sign > 0:
		if s.ahead == nil {
			s.ahead = map[life]int64{}
		}
		s.ahead[l]++
	case s.ahead[l] > 0:
		s.takeAhead(l, 1)
	default:
		s.put(l, -1)
	}
}

func (s *sum) takeAhead(l life, n int64) {
	if s.ahead[l] -= n; s.ahead[l] == 0 {
		delete(s.ahead, l)
	}
	if len(s.ahead) == 0 {
		s.ahead = nil // its memory, too
	}
}

// put puts the part of n pods into the three numbers.
func (s *sum) put(l life, n int64) {
	if l.end == 0 {
		s.running += n
		s.starts += n * l.start
	} else {
		s.ended += n * (l.end - l.start)
	}
}

// seconds is the sum at that time. A time.Duration would not hold it: a hundred
// thousand pods run for its 292 years in one day.
func (s *sum) seconds(now time.Time) float64 {
	var whole int64
	for l, n := range s.ahead {
		if max(l.start, l.end) > now.Unix() {
			whole += n * l.at(now.Unix())
			continue
		}
		s.put(l, n)
		s.takeAhead(l, n)
	}
	whole += s.running*now.Unix() - s.starts + s.ended
	return max(0, float64(whole)+float64(s.running)*float64(now.Nanosecond())/1e9)
}
