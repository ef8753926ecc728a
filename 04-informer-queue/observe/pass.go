package observe

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A pass goes over everything that is known. The first one begins when the
// cache has synced; --resync-period asks for more. It has ended when each key was
// handled, or has failed. With --once, it is also tried again first.

// afterList is the chore that follows each list.
func (o *observer) afterList(ctx context.Context) error {
	if !o.looked {
		o.looked = true
		o.passStarted()
	}
	return o.askNames(ctx)
}

// resync is the chore that replays everything as Sync.
func (o *observer) resync() {
	o.pass.add(resyncKey)
	o.passStarted()
	for _, object := range o.cache.List() {
		k := keyOf(object.(*unstructured.Unstructured))
		o.pass.add(k)
		o.happened(k, event{present: syncEvent}, syncEvent)
	}
	o.queue.EnqueueAfter(resyncKey, o.options.resyncPeriod)
}

func (o *observer) passStarted() {
	o.header("Sync started")
	o.sayIfNothing()
}

// passEnded is the end of a program that is to run --once.
func (o *observer) passEnded() {
	o.header("Sync ended")
	switch {
	case !o.options.once:
	case len(o.givenUp) == 0:
		o.stop(nil)
	default:
		o.stop(fmt.Errorf("%d failed; the last was %w; mend that, and run observe again", len(o.givenUp), o.lastError))
	}
}

// sayIfNothing tells silence from a program that hangs. The commonest reason is
// that one is in the wrong namespace.
func (o *observer) sayIfNothing() {
	if len(o.cache.ListKeys()) == 0 {
		o.header("Sync found no " + o.scope.String())
	}
}

// pass knows which keys have not been handled yet.
type pass struct {
	mu   sync.Mutex
	left map[key]bool
}

func (p *pass) add(k key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[k] = true
}

// join adds a key if there is a pass.
func (p *pass) join(k key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) > 0 {
		p.left[k] = true
	}
}

// done takes a key out and reports whether it was the last.
func (p *pass) done(k key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.left[k] {
		return false
	}
	delete(p.left, k)
	return len(p.left) == 0
}
