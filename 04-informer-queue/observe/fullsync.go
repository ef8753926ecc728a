package observe

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fullSync knows which keys of the running full sync have not been reconciled yet. The
// first full sync starts when the cache has synced; --resync-period starts others. It
// has ended when each key was reconciled, or has failed; with --once, a key that
// failed is retried first.
type fullSync struct {
	mu   sync.Mutex
	left map[key]bool
}

func (s *fullSync) add(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[k] = true
}

// join adds a key if a full sync is running.
func (s *fullSync) join(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) > 0 {
		s.left[k] = true
	}
}

// done takes a key out and reports whether it was the last.
func (s *fullSync) done(k key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.left[k] {
		return false
	}
	delete(s.left, k)
	return len(s.left) == 0
}

// begin adds the first key, unless a full sync is running, and reports whether it did.
func (s *fullSync) begin(k key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) > 0 {
		return false
	}
	s.left[k] = true
	return true
}

// resync replays everything as Sync. While a full sync is still running, the next time
// is early enough.
func (o *observer) resync() {
	defer o.queue.EnqueueAfter(resyncKey, o.options.resyncPeriod)
	if !o.fullSync.begin(resyncKey) {
		return
	}
	o.syncStarted()
	for _, object := range o.informer.GetStore().List() {
		k := keyOf(object.(*unstructured.Unstructured))
		o.fullSync.add(k)
		o.record(k, event{present: syncEvent}, syncEvent)
	}
}

// syncStarted also reports that there is nothing to do, which would look like a
// program that hangs. The commonest reason is the wrong namespace.
func (o *observer) syncStarted() {
	o.children.header("Sync started")
	if len(o.informer.GetStore().ListKeys()) == 0 {
		o.children.header("Sync found no " + o.scope.String())
	}
}

// syncEnded is the end of a program that is to run --once.
func (o *observer) syncEnded() {
	o.children.header("Sync ended")
	switch {
	case !o.options.once:
	case len(o.givenUp) == 0:
		o.end(errDone)
	default:
		o.end(fmt.Errorf("%d failed; the last was %w; mend that, and run observe again", len(o.givenUp), o.lastError))
	}
}
