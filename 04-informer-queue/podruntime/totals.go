package podruntime

import (
	"sync"
	"time"
)

// totals are the sums of all namespaces that have pods.
type totals struct {
	mu   sync.Mutex
	sums map[string]*sum
}

func newTotals() *totals { return &totals{sums: map[string]*sum{}} }

// replace takes out what the pod was and puts in what it is. One that is new was
// nil, one that is gone is nil. It says whether that makes a difference: whether
// a pod came or went, began to run or ended. All other changes do not.
func (t *totals) replace(was, is *pod) (changed bool) {
	if was != nil && is != nil && was.uid == is.uid && was.life == is.life {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if was != nil {
		t.of(was.namespace).remove(was.life)
	}
	if is != nil {
		t.of(is.namespace).add(is.life)
	} else if t.of(was.namespace).pods == 0 {
		// Namespaces come and go. A program that runs for months must not
		// remember all of them.
		delete(t.sums, was.namespace)
	}
	return true
}

// of is the sum of a namespace, to be changed under the lock.
func (t *totals) of(namespace string) *sum {
	s, ok := t.sums[namespace]
	if !ok {
		s = &sum{}
		t.sums[namespace] = s
	}
	return s
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
