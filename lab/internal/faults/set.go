package faults

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// forever is how long a frozen watch is held.
const forever = time.Duration(math.MaxInt64)

// set holds the faults, and the requests that run.
type set struct {
	mu      sync.Mutex
	faults  []Fault
	changed chan struct{} // closed when the faults change
	running map[*call]bool
}

// call is a request that runs.
type call struct {
	request
	cut context.CancelFunc
}

func newSet() *set {
	return &set{changed: make(chan struct{}), running: map[*call]bool{}}
}

// begin notes that a request runs. Its context ends when it is cut.
func (s *set) begin(ctx context.Context, r request) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	c := &call{r, cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[c] = true
	if _, ok := s.findLocked(r, Cut); ok {
		cancel()
	}
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, c)
		cancel()
	}
}

// add makes a fault, in place of the same one, and cuts what it cuts.
func (s *set) add(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.DeleteFunc(s.faults, func(old Fault) bool { return same(old, f) })
	s.faults = append(s.faults, f)
	s.announceLocked()
	for c := range s.running {
		if f.Kind == Cut && f.matches(c.request) {
			c.cut()
		}
	}
}

// remove ends the faults that are to end, and returns them.
func (s *set) remove(which func(Fault) bool) []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ended []Fault
	s.faults = slices.DeleteFunc(s.faults, func(f Fault) bool {
		if !which(f) {
			return false
		}
		ended = append(ended, f)
		return true
	})
	s.announceLocked()
	return ended
}

// announceLocked wakes the requests that are held.
func (s *set) announceLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *set) list() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// find returns the fault of that kind that a request has.
func (s *set) find(r request, kind Kind) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLocked(r, kind)
}

func (s *set) findLocked(r request, kind Kind) (Fault, bool) {
	i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.Kind == kind && f.matches(r) })
	if i < 0 {
		return Fault{}, false
	}
	return s.faults[i], true
}

// hold waits as long as a fault of that kind, Slow or Freeze, makes the request wait. The error is
// that of ctx: nobody waits for the answer any more, or the request was cut.
func (s *set) hold(ctx context.Context, r request, kind Kind) error {
	began := time.Now()
	for ctx.Err() == nil {
		s.mu.Lock()
		f, ok := s.findLocked(r, kind)
		changed := s.changed
		s.mu.Unlock()
		if kind == Freeze {
			f.Delay = forever
		}
		left := f.Delay - time.Since(began)
		if !ok || left <= 0 {
			return nil
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return ctx.Err()
}
