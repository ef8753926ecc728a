package observe

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A pass goes over everything that is known. The first one begins when the
// cache has synced; --resync-period asks for more.

// afterList is the chore that follows each list.
func (o *observer) afterList(ctx context.Context) error {
	if !o.looked {
		o.looked = true
		o.sayIfNothing()
	}
	return o.askNames(ctx)
}

// resync is the chore that replays everything as Sync.
func (o *observer) resync() {
	o.sayIfNothing()
	for _, object := range o.cache.List() {
		o.happened(keyOf(object.(*unstructured.Unstructured)), event{present: syncEvent}, syncEvent)
	}
	o.queue.EnqueueAfter(resyncKey, o.options.resyncPeriod)
}

// sayIfNothing tells silence from a program that hangs. The commonest reason is
// that one is in the wrong namespace.
func (o *observer) sayIfNothing() {
	if len(o.cache.ListKeys()) == 0 {
		o.header("Sync found no " + o.scope.String())
	}
}

// pass knows which keys have not been handled yet. A key is handled when its
// command has succeeded, so one that fails holds the pass up.
type pass struct {
	mu   sync.Mutex
	left map[key]bool
}

func (p *pass) add(k key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[k] = true
}

// done takes a key out and reports whether the pass is complete.
func (p *pass) done(k key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.left, k)
	return len(p.left) == 0
}
