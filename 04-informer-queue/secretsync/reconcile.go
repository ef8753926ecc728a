package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// retryAfter is how long we wait before we try a copy again when someone else's secret has its
// name. No watch reports that it is gone.
const retryAfter = time.Minute

// reconcile makes one copy what it should be: it observes, decides and acts.
//
// The caches may be stale. A write that meets another state than they have is refused,
// and a copy is deleted only when the server confirms that it should be. In both cases
// the decision is made again, by what the server has.
func (c *controller) reconcile(ctx context.Context, key cache.ObjectName) (err error) {
	defer recovered(&err)
	o := c.cached(key)
	d := c.rules.decide(o)
	confirm := d.action == remove || d.action == replace
	if !confirm {
		err = c.act(ctx, key, d, o)
	}
	if confirm || apierrors.IsAlreadyExists(err) {
		if o, err = c.live(ctx, key); err == nil {
			err = c.act(ctx, key, c.rules.decide(o), o)
		}
	}
	// The copy has changed, or is gone, or its namespace is. The watch will report
	// that, and then the key comes back by itself.
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

// recovered makes an error of a panic: one secret that nobody thought of must not stop the
// work on all others.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
	}
}

// observed is what there is about one copy. What does not exist is nil.
type observed struct {
	source    *secret
	namespace *corev1.Namespace
	have      *secret // where the copy should be
}

// cached reads from the caches.
func (c *controller) cached(key cache.ObjectName) observed {
	return observed{
		source:    get[secret](c.sources, cache.NewObjectName(c.rules.sourceNamespace, key.Name)),
		namespace: get[corev1.Namespace](c.namespaces, cache.NewObjectName("", key.Namespace)),
		have:      get[secret](c.copies, key),
	}
}

func get[T any](informer cache.SharedIndexInformer, key cache.ObjectName) *T {
	obj, exists, err := informer.GetStore().GetByKey(key.String())
	if err != nil || !exists { // a store in memory has no error to return
		return nil
	}
	return obj.(*T)
}

// live reads the same from the server.
func (c *controller) live(ctx context.Context, key cache.ObjectName) (observed, error) {
	source, sourceErr := found(c.client.CoreV1().Secrets(c.rules.sourceNamespace).Get(ctx, key.Name, metav1.GetOptions{}))
	namespace, namespaceErr := found(c.client.CoreV1().Namespaces().Get(ctx, key.Namespace, metav1.GetOptions{}))
	have, haveErr := found(c.client.CoreV1().Secrets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}))
	if err := errors.Join(sourceErr, namespaceErr, haveErr); err != nil {
		return observed{}, fmt.Errorf("reading %s and its source from the server: %w", key, err)
	}
	return observed{c.rules.trimSource(source), namespace, trim(have)}, nil
}

// found turns an object that is not found into nil.
func found[T any](obj *T, err error) (*T, error) {
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// action is what is done about one copy, as it is printed.
type action string

const (
	leave   action = ""
	create  action = "created"
	update  action = "updated"
	replace action = "replaced"   // it differs in something that the server does not let change
	remove  action = "deleted"    // it should no longer be there
	collide action = "left alone" // a secret of that name is there, and is not ours
	refuse  action = "refused"    // a source that must not be copied
)

// decision is an action, and the reason for it in words.
type decision struct {
	action action
	why    string
}

// decide compares what is with what should be, and is all that this program knows
// about secrets: it makes no request and has no state. The order of the cases matters.
func (r rules) decide(o observed) decision {
	switch {
	// Nothing can be created in a namespace that is being deleted, and all that is
	// in it will be deleted.
	case o.namespace == nil, o.namespace.DeletionTimestamp != nil:
		return decision{leave, "the namespace is being deleted"}

	case !r.isTarget(o.namespace):
		return r.surplus(o.have, "the namespace is not a target")
	case isToken(o.source) && r.annotated(o.source) && o.have == nil:
		return decision{refuse, "the token of a service account is not copied"}
	case !r.isSource(o.source):
		return r.surplus(o.have, "it has no source")

	case o.have == nil:
		return decision{create, "it is missing"}
	case !r.made(o.have):
		return decision{collide, "it was not made by secretsync"}
	// A finalizer keeps it. When it is gone, the watch reports that.
	case o.have.DeletionTimestamp != nil:
		return decision{leave, "it is being deleted"}
	}
	return r.difference(o.source, o.have)
}

// surplus is about a secret which has no reason to be there.
func (r rules) surplus(have *secret, why string) decision {
	if have == nil || !r.made(have) || have.DeletionTimestamp != nil {
		return decision{leave, why}
	}
	return decision{remove, why}
}

// difference is about a copy of ours that should be there. The server refuses to
// change the type of a secret, the data of one that is immutable, and to
// make that mutable again. Metadata can always be changed.
func (r rules) difference(source, have *secret) decision {
	switch {
	case have.kind != source.kind:
		return decision{replace, "its type differs"}
	case have.immutable && (!source.immutable || have.sum != source.sum):
		return decision{replace, "it differs and is immutable"}
	case have.sum != source.sum:
		return decision{update, "its data differs"}
	case have.immutable != source.immutable:
		return decision{update, "it should be immutable"}
	case have.Annotations[r.annotation] != r.mark(source, have.Namespace):
		return decision{update, "its source was made anew"}
	default:
		return decision{leave, "it is as it should be"}
	}
}

// act does what was decided. No write can change anything but what the decision was
// about: to create fails if there is something, to update if it has another version by
// now, and to delete if it has another version or is another object.
func (c *controller) act(ctx context.Context, key cache.ObjectName, d decision, o observed) error {
	secrets := c.client.CoreV1().Secrets(key.Namespace)
	var err error
	switch d.action {
	case leave:
		return nil
	case collide:
		c.queue.AddAfter(key, retryAfter)
		return c.record(ctx, key, d, o.have, o.source)
	case refuse:
		return c.record(ctx, key, d, o.source, o.source)
	case update:
		_, err = secrets.Update(ctx, c.rules.copyOf(o.source, key.Namespace, o.have), metav1.UpdateOptions{})
	case remove, replace:
		err = secrets.Delete(ctx, key.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &o.have.UID, ResourceVersion: &o.have.ResourceVersion},
		})
	}
	if err == nil && (d.action == create || d.action == replace) {
		_, err = secrets.Create(ctx, c.rules.copyOf(o.source, key.Namespace, nil), metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", key, err)
	}
	c.report(key, d)
	return nil
}

// report prints what was done, and why.
func (c *controller) report(key cache.ObjectName, d decision) {
	// Output that cannot be written is no reason to stop copying.
	_, _ = fmt.Fprintf(c.out, "%s %s: %s\n", d.action, key, d.why)
}
