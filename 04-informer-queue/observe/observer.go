package observe

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/04-informer-queue/controller"
)

// observer tells commands what has happened.
type observer struct {
	options  *options
	mapping  *meta.RESTMapping
	scope    scope
	client   dynamic.Interface
	server   string // its address, for errors
	stdout   io.Writer
	children *children
	metrics  *metrics
	stop     func(error) // ends everything; nil is a good end

	cache   cache.Store
	queue   *controller.Controller[key]
	pending pending
	pass    pass

	// Only the worker uses these.
	failures    int  // commands in a row that have failed
	looked      bool // whether the first pass has begun
	namesWorked bool
	killed      error

	// How often a key has failed, with --once, and which are not tried again.
	tries     map[key]int
	givenUp   map[key]bool
	lastError error
}

// objectError is a failure that comes from what is in one object. It would be the
// same again, and says nothing about the next object.
type objectError struct{ error }

// Unwrap returns what has failed.
func (e objectError) Unwrap() error { return e.error }

// reconcile is called by the queue's only worker. An error brings the key back
// after a pause.
func (o *observer) reconcile(ctx context.Context, k key) error {
	var err error
	switch k {
	case listedKey:
		err = o.afterList(ctx)
	case resyncKey:
		o.resync()
	default:
		err = o.tellOf(ctx, k)
	}
	_, ofObject := errors.AsType[objectError](err)
	switch {
	case errors.Is(err, errKilled):
		o.killed = fmt.Errorf("interrupted: %w", err)
		return nil
	case errors.Is(err, errNames):
		o.stop(err)
		return nil
	case err == nil:
		delete(o.tries, k)
		delete(o.givenUp, k)
	case ofObject:
		err = o.giveUp(ctx, k, err)
	case o.failed(err) == nil:
		return nil
	case o.options.once && o.hasTriesLeft(k, err):
		return err // and the pass goes on
	case o.options.once:
		err = o.giveUp(ctx, k, err)
	}
	if o.pass.done(k) {
		o.passEnded()
	}
	return err
}

// hasTriesLeft counts the failures of a key.
func (o *observer) hasTriesLeft(k key, err error) bool {
	o.tries[k]++
	return o.tries[k] <= o.options.retryCount && !errors.Is(err, errRetried)
}

// giveUp leaves the key alone until the object changes. What is still to be told of
// it stays in pending.
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
	o.stop(fmt.Errorf("%d commands have failed, which is --maximum-errors; the last: %w", o.failures, err))
	return nil
}

// tellOf tells what has happened to an object since it was last told of.
func (o *observer) tellOf(ctx context.Context, k key) error {
	e := o.pending.take(k)
	// What fails, or panics, is still to be told.
	defer func() { o.pending.giveBack(k, e) }()

	if e.gone != nil && isNameOnly(e.gone) {
		// It may have been made anew since the server had none of that name.
		gone, err := o.isGone(ctx, k)
		if err != nil {
			return err
		}
		if !gone {
			e.gone = nil
		}
	}
	if e.gone != nil {
		err := o.tell(deletedEvent, e.gone, o.options.deleteProgram)
		if _, ofObject := errors.AsType[objectError](err); ofObject {
			err = o.tell(deletedEvent, o.nameOnly(k), o.options.deleteProgram) // its name will have to do
		}
		if err != nil {
			return err
		}
		e.gone = nil
	}
	if e.present != "" {
		// In the form that it has by now. If it is not there any more, its
		// deletion is on the way.
		if object, exists := o.cached(k); exists {
			if err := o.tell(e.present, object, o.options.commandProgram); err != nil {
				return err
			}
		}
		e.present = ""
	}
	return nil
}

// cached returns the object as the cache has it.
func (o *observer) cached(k key) (*unstructured.Unstructured, bool) {
	object, exists, err := o.cache.GetByKey(k.String())
	if err != nil || !exists {
		return nil, false
	}
	return object.(*unstructured.Unstructured), true
}
