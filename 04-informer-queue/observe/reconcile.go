package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// objectError is a failure that comes from what is in one object. It would be the
// same again, and does not concern the next object.
type objectError struct{ error }

// Unwrap returns what has failed.
func (e objectError) Unwrap() error { return e.error }

// reconcile is called by the queue's only worker. An error brings the key back
// after a pause.
func (c *controller) reconcile(ctx context.Context, k cache.ObjectName) error {
	var err error
	switch k {
	case listedKey:
		err = c.checkNames(ctx)
	case resyncKey:
		c.resync()
	default:
		err = c.reconcileObject(ctx, k)
	}
	_, ofObject := errors.AsType[objectError](err)
	switch {
	case errors.Is(err, errKilled):
		c.killed = fmt.Errorf("interrupted: %w", err)
		return nil
	case errors.Is(err, errNames):
		c.end(err)
		return nil
	case err == nil:
		delete(c.givenUp, k)
	case ofObject:
		err = c.giveUp(ctx, k, err)
	case c.failed(err) == nil:
		return nil
	case c.options.once && c.queue.NumRequeues(k) < int(c.options.retryCount) && !errors.Is(err, errRetried):
		return err // and the full sync goes on
	case c.options.once:
		err = c.giveUp(ctx, k, err)
	}
	if c.fullSync[k] {
		delete(c.fullSync, k)
		if len(c.fullSync) == 0 {
			c.syncEnded()
		}
	}
	return err
}

// giveUp leaves the key alone until the object changes. Its event stays in pending.
func (c *controller) giveUp(ctx context.Context, k cache.ObjectName, err error) error {
	klog.FromContext(ctx).Error(err, "not trying again until it changes", "key", k)
	c.givenUp[k], c.lastError = true, fmt.Errorf("%s: %w", k, err)
	return nil
}

// failed counts a failure. The last one that is allowed ends the program.
func (c *controller) failed(err error) error {
	c.failures++
	if c.options.maximumErrors < 0 || c.failures < c.options.maximumErrors {
		return err
	}
	c.end(fmt.Errorf("%d commands have failed, which is --maximum-errors; the last: %w", c.failures, err))
	return nil
}

// reconcileObject runs the commands for the pending event of an object.
func (c *controller) reconcileObject(ctx context.Context, k cache.ObjectName) error {
	e := c.pending.take(k)
	// What fails, or panics, stays pending.
	defer func() { c.pending.giveBack(k, e) }()

	if e.gone != nil && isNameOnly(e.gone) {
		// It may have been created again since the server had none of that name.
		gone, err := c.isGone(ctx, k)
		if err != nil {
			return err
		}
		if !gone {
			e.gone = nil
		}
	}
	if e.gone != nil {
		err := c.execute(deletedEvent, e.gone, c.options.delete)
		if _, ofObject := errors.AsType[objectError](err); ofObject {
			err = c.execute(deletedEvent, c.nameOnly(k), c.options.delete) // its name will have to do
		}
		if err != nil {
			return err
		}
		e.gone = nil
	}
	if c.children.stop.Err() != nil {
		return nil // what else is pending waits for the next start
	}
	// In the form that it has by now. If it does not exist any more, its deletion is on the way.
	if object := c.cached(k); object != nil && e.present != "" {
		if err := c.execute(e.present, object, c.options.program); err != nil {
			return err
		}
	}
	e.present = ""
	return nil
}

// cached returns the object as the cache has it, or nil.
func (c *controller) cached(k cache.ObjectName) *unstructured.Unstructured {
	object, _, _ := c.informer.GetStore().GetByKey(k.String()) // an informer's store has no errors
	u, _ := object.(*unstructured.Unstructured)
	return u
}

// execute runs the program for an event. Without one, the header line is all.
func (c *controller) execute(typ eventType, object *unstructured.Unstructured, p program) error {
	rendered, err := render(c.options.arguments, object.Object, isNameOnly(object))
	if err != nil {
		return objectError{err}
	}
	arguments := append([]string{object.GetName()}, rendered...)
	if c.scope.namespaced {
		arguments = append([]string{object.GetNamespace()}, arguments...)
	}
	environment, err := c.environment(typ, object)
	if err != nil {
		return err
	}
	version := cmp.Or(object.GetResourceVersion(), "-")
	c.children.header(fmt.Sprintf("%s %s\t%s", typ, version, quoteLine(slices.Concat(p.line, arguments))))
	if !p.given() {
		return nil
	}
	err = c.children.run(typ, p, arguments, environment)
	if err == nil {
		c.failures = 0
	}
	return err
}

// environment is what a program gets besides the variables of observe.
func (c *controller) environment(typ eventType, object *unstructured.Unstructured) ([]string, error) {
	var environment []string
	if name := c.options.typeVariable; name != "" {
		environment = append(environment, name+"="+string(typ))
	}
	if name := c.options.objectVariable; name != "" {
		text, err := json.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding the object: %w", err)
		}
		environment = append(environment, name+"="+string(text))
	}
	return environment, nil
}
