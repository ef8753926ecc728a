package behaviour

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

// watched is the clock that an operator gets: the fake clock of its env, which
// several operators may share, and a record of how this one uses it.
type watched struct {
	*testclock.FakeClock
	reads atomic.Int64 // how often it read the time

	mu    sync.Mutex
	until time.Time // its last timer ends then
}

// Now is the time of the env. Nothing can be decided without reading it, so this
// distinguishes a reconcile that makes no request from no reconcile.
func (w *watched) Now() time.Time {
	w.reads.Add(1)
	return w.FakeClock.Now()
}

// NewTimer is called by a queue that has nothing to do, with the time until the
// next of its keys is due.
func (w *watched) NewTimer(d time.Duration) clock.Timer {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = w.FakeClock.Now().Add(d)
	return w.FakeClock.NewTimer(d)
}

// sleepsUntil is when the next key of its queue is due, as far as that was put to
// sleep for at least once.
func (w *watched) sleepsUntil() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.until
}
