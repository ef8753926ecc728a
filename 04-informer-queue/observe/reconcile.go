package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
)

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

// execute runs the program for an event. Without one, the header line is all.
func (o *observer) execute(typ eventType, object *unstructured.Unstructured, p program) error {
	arguments, err := o.arguments(object)
	if err != nil {
		return objectError{err}
	}
	environment, err := o.environment(typ, object)
	if err != nil {
		return err
	}
	version := object.GetResourceVersion()
	if version == "" {
		version = "-"
	}
	o.children.header(fmt.Sprintf("%s %s\t%s", typ, version, quoteLine(slices.Concat(p.line, arguments))))
	if !p.given() {
		return nil
	}
	if slices.ContainsFunc(arguments, func(argument string) bool { return strings.Contains(argument, "\x00") }) {
		return objectError{errors.New("a template has rendered a NUL, which no argument can have; leave that field out of --argument")}
	}
	err = o.children.run(p, arguments, environment, func(code int, took time.Duration) { o.metrics.ran(typ, code, took) })
	if err == nil {
		o.failures = 0
	}
	return err
}

// arguments are what a program gets after its own.
func (o *observer) arguments(object *unstructured.Unstructured) ([]string, error) {
	var arguments []string
	if o.scope.namespaced {
		arguments = append(arguments, object.GetNamespace())
	}
	rendered, err := render(o.options.arguments, object.Object, isNameOnly(object))
	return append(append(arguments, object.GetName()), rendered...), err
}

// environment is what a program gets besides the variables of observe.
func (o *observer) environment(typ eventType, object *unstructured.Unstructured) ([]string, error) {
	var environment []string
	if name := o.options.typeVariable; name != "" {
		environment = append(environment, name+"="+string(typ))
	}
	if name := o.options.objectVariable; name != "" {
		text, err := json.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("encoding the object: %w", err)
		}
		environment = append(environment, name+"="+string(text))
	}
	return environment, nil
}
