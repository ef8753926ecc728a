// Package controller is the queue and the workers of stage 4, cut out of its programs for keys of any
// type, with one thing more: a key can wait for a time of day.
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
	"k8s.io/utils/clock"
)

// Reconcile makes true what should be true for the key. It must give the same
// result however often it is called. When it returns an error, it is called again
// with the same key after a pause.
//
// The context ends after Controller.Timeout. It does not end when the controller
// stops: a reconcile that has begun is finished.
type Reconcile[K comparable] func(ctx context.Context, key K) error

// Controller hands the keys of a queue to workers.
type Controller[K comparable] struct {
	// Timeout is how long one reconcile may take; 0 is as long as it needs. New sets
	// it to 15 s: a pod that is asked to end is killed 30 s later.
	Timeout time.Duration

	name  string
	clock clock.PassiveClock
	queue workqueue.TypedRateLimitingInterface[K]
}

// New returns a controller with an empty queue. The name is for logs. The clock decides
// when a key that waits is due.
func New[K comparable](name string, c clock.WithTicker) *Controller[K] {
	// A key that fails waits 100 ms, then twice as long each time, up to a minute.
	// Each key has its own pause: one that fails does not delay the others.
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[K](100*time.Millisecond, time.Minute)
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[K]{Clock: c})
	return &Controller[K]{Timeout: 15 * time.Second, name: name, clock: c, queue: queue}
}

// Enqueue adds a key to the queue. A key that is waiting is not added twice. A key
// that is being processed is processed once more afterwards, because that reconcile
// may have read the cache before the change.
func (c *Controller[K]) Enqueue(key K) { c.queue.Add(key) }

// EnqueueAfter adds a key to the queue when that much time has passed.
func (c *Controller[K]) EnqueueAfter(key K, d time.Duration) { c.queue.AddAfter(key, d) }

// EnqueueAt adds a key to the queue when that time has come. A key that is waiting for
// an earlier time comes at that, and a reconcile that finds it too early calls this again.
func (c *Controller[K]) EnqueueAt(key K, at time.Time) { c.EnqueueAfter(key, at.Sub(c.clock.Now())) }

// Len is the number of keys that are waiting.
func (c *Controller[K]) Len() int { return c.queue.Len() }

// Failures is how often the key has failed since it last succeeded.
func (c *Controller[K]) Failures(key K) int { return c.queue.NumRequeues(key) }

// Run reconciles until the context ends. It returns when every worker has finished
// the key that it was processing; keys that are still waiting are dropped: the next
// start adds the key of every object that exists. A controller runs once.
//
// No worker starts before all caches have synced: a cache that is half full looks
// as if the other half had been deleted.
func (c *Controller[K]) Run(ctx context.Context, workers int, reconcile Reconcile[K], synced ...cache.DoneChecker) {
	defer c.queue.ShutDown()
	if !cache.WaitFor(ctx, "", synced...) {
		return // the context ended first
	}
	reconcile = c.guard(reconcile)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for c.processNextItem(ctx, reconcile) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown() // wakes the workers that wait in Get
	running.Wait()
}

// processNextItem takes one key from the queue. It returns false after shutdown.
func (c *Controller[K]) processNextItem(ctx context.Context, reconcile Reconcile[K]) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	// Until Done is called, no other worker gets this key. So two workers never
	// reconcile the same key at the same time, and reconcile needs no lock.
	defer c.queue.Done(key)
	if ctx.Err() != nil {
		return false
	}

	if err := reconcile(ctx, key); err != nil {
		klog.FromContext(ctx).Error(err, "trying again later", "controller", c.name, "key", key, "failures", c.queue.NumRequeues(key)+1)
		// Not Add: a key that fails at once would be back at once, for ever.
		c.queue.AddRateLimited(key)
		return true
	}
	// Forget only the failures, so that the next pause is short again. It does not
	// take the key out of the queue: a change that came meanwhile stays.
	c.queue.Forget(key)
	return true
}

// guard adds to reconcile what every call needs: a deadline, and protection from a
// panic. That is an error like any other: one object that nobody thought of must not
// stop the work on all others.
func (c *Controller[K]) guard(reconcile Reconcile[K]) Reconcile[K] {
	return func(ctx context.Context, key K) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
			}
		}()
		ctx = context.WithoutCancel(ctx)
		if c.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.Timeout)
			defer cancel()
		}
		return reconcile(ctx, key)
	}
}
