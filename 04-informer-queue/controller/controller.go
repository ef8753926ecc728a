// Package controller is the loop at the heart of every controller.
//
// Three parts work together. An informer keeps a cache of what the server has,
// and calls a handler on every change. The handler does no work: it puts a key
// into a queue. Workers take one key after the other out of the queue and
// reconcile it: they look into the cache, compare what is with what should be,
// and do something about the difference.
//
//	API server ──watch──▶ informer ──handler──▶ queue ──key──▶ worker ──reconcile──▶ API server
//	                         │                    ▲               │
//	                         └── cache ◀──reads───│───────────────┤
//	                                              └── on failure ─┘
//
// Only the queue and the workers are here; client-go has the informer, and each
// program of this stage brings its own handlers and its own reconcile.
//
// Why keys, and not events? A key says "look at this", not "this happened". Ten
// changes to one object that is waiting make one key, so a burst costs one pass.
// A pass that failed is repeated with what is true by then. And whoever missed
// an event, because the program was down, has missed nothing.
package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Reconcile makes true what should be true for the key. It must give the same
// result however often it is called. When it returns an error, it is called
// again with the same key after a pause.
//
// The context ends after Controller.Timeout. It does not end when the controller
// is told to stop: what was begun is finished.
type Reconcile[K comparable] func(ctx context.Context, key K) error

// Controller hands the keys of a queue to workers.
type Controller[K comparable] struct {
	// Timeout is how long one Reconcile may take. The default is a minute.
	Timeout time.Duration

	name      string
	queue     workqueue.TypedRateLimitingInterface[K]
	reconcile Reconcile[K]
}

// New returns a controller that reconciles with the given function. The name is
// for logs.
func New[K comparable](name string, reconcile Reconcile[K]) *Controller[K] {
	// A key that fails waits 100 ms, then twice as long each time, up to a
	// minute. Each key has a pause of its own: one that fails does not slow the
	// others down.
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[K](100*time.Millisecond, time.Minute)
	return &Controller[K]{
		Timeout:   time.Minute,
		name:      name,
		queue:     workqueue.NewTypedRateLimitingQueue(limiter),
		reconcile: reconcile,
	}
}

// Enqueue asks for the key to be reconciled. A key that is waiting already is
// not added twice. A key that a worker has in hand is given out once more when
// the worker is done, because that worker may have looked before the change.
func (c *Controller[K]) Enqueue(key K) { c.queue.Add(key) }

// EnqueueAfter asks for the key to be reconciled when that much time has passed.
func (c *Controller[K]) EnqueueAfter(key K, d time.Duration) { c.queue.AddAfter(key, d) }

// Len is the number of keys that wait for a worker.
func (c *Controller[K]) Len() int { return c.queue.Len() }

// Run works until the context ends. It returns when every worker has finished
// the key that it had in hand; keys that still wait are dropped, which is safe
// because the next start sees all objects again. A controller runs once.
//
// No worker starts before all caches have synced: a cache that is half full
// looks as if the other half had been deleted.
func (c *Controller[K]) Run(ctx context.Context, workers int, synced ...cache.InformerSynced) {
	defer c.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return // the context ended first
	}

	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown() // wakes the workers that wait in Get
	running.Wait()
}

// next takes one key from the queue and deals with it. It returns false when
// there will be no further one.
func (c *Controller[K]) next(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	// Until Done is called, no other worker gets this key. So two workers never
	// reconcile the same key at the same time, and Reconcile needs no lock.
	defer c.queue.Done(key)
	if ctx.Err() != nil {
		return false
	}

	if err := c.work(ctx, key); err != nil {
		klog.FromContext(ctx).Error(err, "trying again later", "controller", c.name, "key", key, "failures", c.queue.NumRequeues(key)+1)
		// Not Add: a key that fails at once would be back at once, for ever.
		c.queue.AddRateLimited(key)
		return true
	}
	// Forget only the failures, so that the next one pauses briefly again. It
	// does not take the key out of the queue: a change that came meanwhile stays.
	c.queue.Forget(key)
	return true
}

// work calls Reconcile and gives it its time. A panic is an error like any
// other: one object that nobody thought of must not stop the work on all others.
func (c *Controller[K]) work(ctx context.Context, key K) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Timeout)
	defer cancel()
	return c.reconcile(ctx, key)
}
