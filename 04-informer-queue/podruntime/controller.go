package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// reconcileTimeout is how long one reconcile may take. It's less than the 30 s that a pod has to stop.
const reconcileTimeout = 20 * time.Second

type controller struct {
	pods  corelisters.PodLister // reads from the cache, never from the server
	queue workqueue.TypedRateLimitingInterface[string]
	out   io.Writer

	printed sync.Map // the course that was printed last, by namespace
}

func newController(pods corelisters.PodLister, out io.Writer) *controller {
	return &controller{
		pods: pods,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			// A key that fails waits 100 ms, then twice as long each time, up to a minute.
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Minute),
			// Without a name, a queue has no metrics.
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "podruntime"}),
		out: out,
	}
}

// enqueue adds the namespace of a pod. A key that is waiting is not added twice.
func (c *controller) enqueue(obj any) {
	if pod, err := cache.DeletionHandlingObjectToName(obj); err == nil { // the watch may have missed the deletion
		c.queue.Add(pod.Namespace)
	}
}

// run reconciles until the context ends, and returns when each worker has finished its key.
// Keys that are still waiting are dropped: the next start adds all of them.
func (c *controller) run(ctx context.Context, workers int, reconcile func(context.Context, string) error, synced ...cache.DoneChecker) {
	// Shutdown wakes the workers that wait for a key.
	context.AfterFunc(ctx, c.queue.ShutDown)
	// Until the cache is full, it looks as if the rest had been deleted.
	if !cache.WaitFor(ctx, "", synced...) {
		return // interrupted
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for c.processNextItem(ctx, reconcile) {
			}
		})
	}
	running.Wait()
}

// processNextItem takes one key from the queue. It returns false after shutdown.
func (c *controller) processNextItem(ctx context.Context, reconcile func(context.Context, string) error) bool {
	namespace, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(namespace) // until then, no other worker gets this key
	if ctx.Err() != nil {
		return false
	}
	// A reconcile that has begun is finished, but it doesn't take forever.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), reconcileTimeout)
	defer cancel()

	if err := reconcile(limited, namespace); err != nil {
		klog.FromContext(ctx).Error(err, "trying again later", "namespace", namespace, "failures", c.queue.NumRequeues(namespace)+1)
		c.queue.AddRateLimited(namespace)
		return true
	}
	c.queue.Forget(namespace) // its failures, so that the next one is retried soon
	return true
}

// recovered makes an error of a panic: one pod that nobody thought of must not stop the work on all others.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
	}
}
