package observe

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/04-informer-queue/cli"
	"example.com/hacking-a-controller/04-informer-queue/controller"
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

// objectError is a failure that comes from what is in one object. It would be the
// same again, and does not concern the next object.
type objectError struct{ error }

// Unwrap returns what has failed.
func (e objectError) Unwrap() error { return e.error }

// reconcile is called by the queue's only worker. An error brings the key back
// after a pause.
func (o *observer) reconcile(ctx context.Context, k key) error {
	var err error
	switch k {
	case listedKey:
		err = o.checkNames(ctx)
	case resyncKey:
		o.resync()
	default:
		err = o.reconcileObject(ctx, k)
	}
	_, ofObject := errors.AsType[objectError](err)
	switch {
	case errors.Is(err, errKilled):
		o.killed = fmt.Errorf("interrupted: %w", err)
		return nil
	case errors.Is(err, errNames):
		o.end(err)
		return nil
	case err == nil:
		delete(o.givenUp, k)
	case ofObject:
		err = o.giveUp(ctx, k, err)
	case o.failed(err) == nil:
		return nil
	case o.options.once && o.queue.Failures(k) < o.options.retryCount && !errors.Is(err, errRetried):
		return err // and the full sync goes on
	case o.options.once:
		err = o.giveUp(ctx, k, err)
	}
	if o.fullSync.done(k) {
		o.syncEnded()
	}
	return err
}

// giveUp leaves the key alone until the object changes. Its event stays in pending.
func (o *observer) giveUp(ctx context.Context, k key, err error) error {
	klog.FromContext(ctx).Error(err, "not trying again until it changes", "controller", "observe", "key", k)
	o.givenUp[k], o.lastError = true, fmt.Errorf("%s: %w", k, err)
	return nil
}

// failed counts a failure. The last one that is allowed ends the program.
func (o *observer) failed(err error) error {
	o.failures++
	if o.failures != o.options.maximumErrors {
		return err
	}
	o.end(fmt.Errorf("%d commands have failed, which is --maximum-errors; the last: %w", o.failures, err))
	return nil
}

// reconcileObject runs the commands for the pending event of an object.
func (o *observer) reconcileObject(ctx context.Context, k key) error {
	e := o.pending.take(k)
	// What fails, or panics, stays pending.
	defer func() { o.pending.giveBack(k, e) }()

	if e.gone != nil && isNameOnly(e.gone) {
		// It may have been created again since the server had none of that name.
		gone, err := o.isGone(ctx, k)
		if err != nil {
			return err
		}
		if !gone {
			e.gone = nil
		}
	}
	if e.gone != nil {
		err := o.execute(deletedEvent, e.gone, o.options.delete)
		if _, ofObject := errors.AsType[objectError](err); ofObject {
			err = o.execute(deletedEvent, o.nameOnly(k), o.options.delete) // its name will have to do
		}
		if err != nil {
			return err
		}
		e.gone = nil
	}
	if e.present != "" {
		// In the form that it has by now. If it does not exist any more, its
		// deletion is on the way.
		if object, exists := o.cached(k); exists {
			if err := o.execute(e.present, object, o.options.program); err != nil {
				return err
			}
		}
		e.present = ""
	}
	return nil
}

// cached returns the object as the cache has it.
func (o *observer) cached(k key) (*unstructured.Unstructured, bool) {
	object, exists, err := o.informer.GetStore().GetByKey(k.String())
	if err != nil || !exists {
		return nil, false
	}
	return object.(*unstructured.Unstructured), true
}
