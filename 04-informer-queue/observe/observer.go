package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/controller"
	"example.com/hacking-a-controller/04-informer-queue/monitor"
)

// target is what is observed: a type, in a cluster, in one namespace or in all.
type target struct {
	client  dynamic.Interface
	mapping *meta.RESTMapping
	scope   scope
	server  string // its address, for errors
}

// observer runs commands for what has happened.
type observer struct {
	target
	options  *options
	children *children
	metrics  *metrics
	end      context.CancelCauseFunc // ends everything; errDone is a good end

	informer cache.SharedIndexInformer
	handled  cache.ResourceEventHandlerRegistration
	queue    *controller.Controller[key]
	pending  pending
	fullSync fullSync

	// Only the worker uses these.
	failures    int // commands in a row that have failed
	namesWorked bool
	killed      error
	givenUp     map[key]bool // not tried again until the object changes
	lastError   error        // of the last of these
}

func newObserver(options *options, target target, children *children, end context.CancelCauseFunc) (o *observer, err error) {
	o = &observer{
		target: target, options: options, children: children, metrics: newMetrics(), end: end,
		queue:   controller.New[key]("observe"),
		pending: pending{events: map[key]event{}}, fullSync: fullSync{left: map[key]bool{}},
		givenUp: map[key]bool{},
	}
	o.queue.Timeout = 0 // only the author of a command knows how long it may take
	source := &source{
		objects:  target.client.Resource(target.mapping.Resource).Namespace(target.scope.namespace),
		selector: options.selector,
		listed:   func() { o.queue.Enqueue(listedKey) },
		failed:   func(err error) { end(cli.Explain(err, target.server)) },
	}
	if o.informer, err = source.informer(); err != nil {
		return nil, fmt.Errorf("preparing the informer: %w", err)
	}
	if o.handled, err = o.informer.AddEventHandler(o); err != nil {
		return nil, fmt.Errorf("adding the handlers: %w", err)
	}
	return o, nil
}

// run is the informer, the queue and the monitor. It returns when all of them
// have ended.
func (o *observer) run(ctx context.Context, listener net.Listener) error {
	var running sync.WaitGroup
	defer running.Wait()
	if listener != nil {
		// The monitor answers until the last child has ended.
		monitored, endMonitor := context.WithCancel(context.WithoutCancel(ctx))
		defer endMonitor()
		running.Go(func() {
			if err := monitor.Serve(monitored, listener, o.metrics.registry, o.ready); err != nil {
				o.end(err)
			}
		})
	}
	o.fullSync.add(listedKey)
	if o.options.resyncPeriod > 0 && !o.options.once {
		o.queue.EnqueueAfter(resyncKey, o.options.resyncPeriod)
	}

	running.Go(func() { o.informer.RunWithContext(ctx) })
	// The queue would wait for this, too, but it polls, every 100 ms.
	if cache.WaitFor(ctx, "", o.informer.HasSyncedChecker(), o.handled.HasSyncedChecker()) {
		o.syncStarted()
	}
	o.queue.Run(ctx, 1, o.reconcile)

	cause := context.Cause(ctx)
	switch {
	case o.killed != nil:
		return o.killed
	case errors.Is(cause, context.Canceled), errors.Is(cause, errDone):
		return nil
	default:
		return cause
	}
}

// ready returns why not every object is known yet.
func (o *observer) ready() error {
	if !o.handled.HasSynced() {
		return errors.New("the cache has not synced yet")
	}
	return nil
}

// The handlers run in the informer's goroutine. They record what happened and
// leave the rest to the worker.

// OnAdd is called for what exists at the start, and then for what is created.
func (o *observer) OnAdd(object any, isInInitialList bool) {
	u := object.(*unstructured.Unstructured)
	if !isInInitialList {
		o.record(keyOf(u), event{present: addedEvent}, addedEvent)
		return
	}
	o.fullSync.add(keyOf(u))
	o.record(keyOf(u), event{present: syncEvent}, syncEvent)
}

// OnUpdate is called for what has changed, and after a list for everything.
func (o *observer) OnUpdate(before, now any) {
	old, u := before.(*unstructured.Unstructured), now.(*unstructured.Unstructured)
	switch {
	case old.GetUID() != u.GetUID():
		// The same name, but another object: the deletion of the old one was
		// missed while there was no connection.
		o.OnDelete(old)
		o.OnAdd(u, false)
	case old.GetResourceVersion() != u.GetResourceVersion():
		o.record(keyOf(u), event{present: updatedEvent}, updatedEvent)
	}
}

// OnDelete is called for what was deleted.
func (o *observer) OnDelete(object any) {
	// The deletion was missed, and a list showed it. This is the last known form.
	if unseen, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unseen.Obj
	}
	u := object.(*unstructured.Unstructured)
	o.record(keyOf(u), event{gone: u}, deletedEvent)
}

// record keeps an event for the worker.
func (o *observer) record(k key, e event, typ eventType) {
	o.metrics.count(typ)
	o.pending.add(k, e)
	o.queue.Enqueue(k)
}
