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
	first   pass

	// Only the worker uses these.
	failures    int
	looked      bool // whether the first pass has begun
	namesWorked bool
	killed      error
}

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
	switch {
	case errors.Is(err, errKilled):
		o.killed = fmt.Errorf("interrupted: %w", err)
	case errors.Is(err, errNames):
		o.stop(err)
	case err != nil:
		return o.failed(err)
	case o.first.done(k) && o.options.once:
		o.stop(nil)
	}
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
		if err := o.tell(deletedEvent, e.gone, o.options.deleteProgram); err != nil {
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
