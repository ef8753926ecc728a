// Package queue is the loop at the heart of every controller: a queue of keys,
// and workers that take one after the other and reconcile it. It is that of stage
// 4, which explains it line by line. Two things are new. The queue has a clock, so
// that a key can wait for a time of day. And a reconcile can ask to be called
// again without having failed.
package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// ErrAgain is for a Reconcile that has found its cache to be behind. The cache
// will catch up by itself, so there is nothing to report.
var ErrAgain = errors.New("the cache is behind")

// Reconcile makes true what should be true for the key. It must give the same
// result however often it is called. When it returns an error, it is called
// again with the same key after a pause.
//
// The context ends after Queue.Timeout. It does not end when the queue is told to
// stop: what was begun is finished.
type Reconcile[K comparable] func(ctx context.Context, key K) error

// Queue holds keys, and hands them to workers.
type Queue[K comparable] struct {
	// Timeout is how long one Reconcile may take. The default is a minute.
	Timeout time.Duration

	name      string
	clock     clock.PassiveClock
	queue     workqueue.TypedRateLimitingInterface[K]
	reconcile Reconcile[K]
}

// New returns a queue whose keys are reconciled with the given function. The name
// is for logs. The clock tells when a key is due; pauses after failures pass by
// it, too.
func New[K comparable](name string, clock clock.WithTicker, reconcile Reconcile[K]) *Queue[K] {
	// A key that fails waits 100 ms, then twice as long each time, up to a
	// minute. Each key has a pause of its own: one that fails does not slow the
	// others down.
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[K](100*time.Millisecond, time.Minute)
	return &Queue[K]{
		Timeout:   time.Minute,
		name:      name,
		clock:     clock,
		queue:     workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[K]{Clock: clock}),
		reconcile: reconcile,
	}
}

// Enqueue asks for the key to be reconciled. A key that is waiting already is
// not added twice. A key that a worker has in hand is given out once more when
// the worker is done, because that worker may have looked before the change.
func (q *Queue[K]) Enqueue(key K) { q.queue.Add(key) }

// EnqueueAt asks for the key to be reconciled at that time. A key that waits
// already keeps the earlier time of the two: a Reconcile that was called too early
// asks once more.
func (q *Queue[K]) EnqueueAt(key K, at time.Time) { q.queue.AddAfter(key, at.Sub(q.clock.Now())) }

// Len is the number of keys that wait for a worker.
func (q *Queue[K]) Len() int { return q.queue.Len() }

// ShutDown ends a queue that was never run. Run does it by itself.
func (q *Queue[K]) ShutDown() { q.queue.ShutDown() }

// Run works until the context ends. It returns when every worker has finished
// the key that it had in hand; keys that still wait are dropped, which is safe
// because the next start sees all objects again. A queue runs once.
//
// No worker starts before all caches have synced: a cache that is half full
// looks as if the other half had been deleted.
func (q *Queue[K]) Run(ctx context.Context, workers int, synced ...cache.InformerSynced) {
	defer q.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return // the context ended first
	}

	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for q.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	q.queue.ShutDown() // wakes the workers that wait in Get
	running.Wait()
}

// next takes one key from the queue and deals with it. It returns false when
// there will be no further one.
func (q *Queue[K]) next(ctx context.Context) bool {
	key, shutdown := q.queue.Get()
	if shutdown {
		return false
	}
	// Until Done is called, no other worker gets this key. So two workers never
	// reconcile the same key at the same time, and Reconcile needs no lock.
	defer q.queue.Done(key)
	if ctx.Err() != nil {
		return false
	}

	err := q.work(ctx, key)
	if err == nil {
		// Forget only the failures, so that the next one pauses briefly again. It
		// does not take the key out of the queue: a change that came meanwhile stays.
		q.queue.Forget(key)
		return true
	}
	if !errors.Is(err, ErrAgain) {
		klog.FromContext(ctx).Error(err, "trying again later", "controller", q.name, "key", key, "failures", q.queue.NumRequeues(key)+1)
	}
	// Not Add: a key that fails at once would be back at once, for ever.
	q.queue.AddRateLimited(key)
	return true
}

// work calls Reconcile and gives it its time. A panic is an error like any
// other: one object that nobody thought of must not stop the work on all others.
func (q *Queue[K]) work(ctx context.Context, key K) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.Timeout)
	defer cancel()
	return q.reconcile(ctx, key)
}
