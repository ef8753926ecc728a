package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// controller runs commands for what has happened to the objects of its target.
type controller struct {
	target
	options  *options
	children *children
	metrics  *metrics
	end      context.CancelCauseFunc // ends everything; errDone is a good end

	informer cache.SharedIndexInformer
	handled  cache.ResourceEventHandlerRegistration
	queue    workqueue.TypedRateLimitingInterface[cache.ObjectName]
	pending  pending

	// The keys of the running full sync that have not been reconciled yet; without any, none is
	// running. It needs no lock: the informer adds what exists at the start, and only then the
	// worker begins.
	fullSync map[cache.ObjectName]bool

	// Only the worker uses these.
	failures    int // commands in a row that have failed
	namesWorked bool
	killed      error
	givenUp     map[cache.ObjectName]bool // not tried again until the object changes
	lastError   error                     // of the last of these
}

func newController(o *options, target target, stdout, stderr io.Writer, stop, kill context.Context, end context.CancelCauseFunc) (*controller, error) {
	// A key that fails waits 100 ms, then twice as long each time, up to a minute.
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, time.Minute)
	c := &controller{
		target: target, options: o, metrics: newMetrics(), end: end,
		queue:   workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "observe"}),
		pending: pending{events: map[cache.ObjectName]event{}},

		fullSync: map[cache.ObjectName]bool{}, givenUp: map[cache.ObjectName]bool{},
	}
	c.children = &children{
		stop: stop, kill: kill, stdout: stdout, stderr: stderr, ran: c.metrics.ran,
		quiet: o.quiet, retryExitCode: int(o.retryExitCode), retryCount: int(o.retryCount),
	}
	source := &source{
		objects:  target.client.Resource(target.mapping.Resource).Namespace(target.scope.namespace),
		selector: o.selector,
		listed:   func() { c.queue.Add(listedKey) },
		failed:   end,
	}
	var err error
	if c.informer, err = source.informer(); err != nil {
		return nil, err
	}
	c.handled, err = c.informer.AddEventHandler(c)
	return c, err
}

// run is the informer and the worker. It returns when both have ended.
func (c *controller) run(ctx context.Context) error {
	c.fullSync[listedKey] = true
	if c.options.resyncPeriod > 0 && !c.options.once {
		c.queue.AddAfter(resyncKey, c.options.resyncPeriod)
	}
	context.AfterFunc(ctx, c.queue.ShutDown) // wakes the worker that waits in Get
	var running sync.WaitGroup
	running.Go(func() { c.informer.RunWithContext(ctx) })
	if cache.WaitFor(ctx, "", c.informer.HasSyncedChecker(), c.handled.HasSyncedChecker()) {
		c.syncStarted()
		for c.processNextItem(ctx) {
		}
	}
	running.Wait()

	cause := context.Cause(ctx)
	switch {
	case c.killed != nil:
		return c.killed
	case errors.Is(cause, context.Canceled), errors.Is(cause, errDone):
		return nil
	default:
		return cause
	}
}

// processNextItem takes one key from the queue. It returns false after shutdown, and drops the
// keys that still wait: the next start adds the key of every object that exists.
func (c *controller) processNextItem(ctx context.Context) bool {
	k, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(k)
	if ctx.Err() != nil {
		return false
	}
	if err := c.guarded(ctx, k); err != nil {
		klog.FromContext(ctx).Error(err, "trying again later", "key", k, "failures", c.queue.NumRequeues(k)+1)
		c.queue.AddRateLimited(k)
		return true
	}
	c.queue.Forget(k) // its failures, so that the next one is retried soon
	return true
}

// guarded is reconcile, where a panic is an error like any other. Only the author of a command
// knows how long it may take, so there is no deadline.
func (c *controller) guarded(ctx context.Context, k cache.ObjectName) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return c.reconcile(context.WithoutCancel(ctx), k)
}

// The handlers run in the informer's goroutine. They record what happened and leave the rest to
// the worker.

// OnAdd is called for what exists at the start, and then for what is created.
func (c *controller) OnAdd(object any, isInInitialList bool) {
	u := object.(*unstructured.Unstructured)
	if !isInInitialList {
		c.enqueue(u, addedEvent)
		return
	}
	c.fullSync[cache.MetaObjectToName(u)] = true
	c.enqueue(u, syncEvent)
}

// OnUpdate is called for what has changed, and after a list for everything.
func (c *controller) OnUpdate(before, now any) {
	old, u := before.(*unstructured.Unstructured), now.(*unstructured.Unstructured)
	switch {
	case old.GetUID() != u.GetUID():
		// The same name, but another object: the deletion of the old one was missed while there
		// was no connection.
		c.OnDelete(old)
		c.OnAdd(u, false)
	case old.GetResourceVersion() != u.GetResourceVersion():
		c.enqueue(u, updatedEvent)
	}
}

// OnDelete is called for what was deleted.
func (c *controller) OnDelete(object any) {
	// The deletion was missed, and a list showed it. This is the last known form.
	if unseen, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unseen.Obj
	}
	c.enqueue(object.(*unstructured.Unstructured), deletedEvent)
}

// enqueue keeps an event for the worker, and adds the key.
func (c *controller) enqueue(u *unstructured.Unstructured, typ eventType) {
	k, e := cache.MetaObjectToName(u), event{present: typ}
	if typ == deletedEvent {
		e = event{gone: u}
	}
	c.metrics.count(typ)
	c.pending.add(k, e)
	c.queue.Add(k)
}
