package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// retryAfter is how long we wait before we try a copy again when someone else's secret has its
// name. No watch reports that it is gone.
const retryAfter = time.Minute

// reconcile makes one copy what it should be: it observes, decides and acts.
//
// The caches may be stale. The server refuses a write that meets another state than they
// have, and a copy is deleted only when the server confirms that it should be. In both
// cases reconcile decides again, by what the server has.
func (c *controller) reconcile(ctx context.Context, key cache.ObjectName) (err error) {
	defer recovered(&err)
	o := c.cached(key)
	d := c.rules.decide(o)
	if d.action != remove {
		err = c.act(ctx, key, d, o)
	}
	if d.action == remove || apierrors.IsAlreadyExists(err) {
		if o, err = c.live(ctx, key); err == nil {
			err = c.act(ctx, key, c.rules.decide(o), o)
		}
	}
	// The copy has changed, or is gone, or its namespace is being deleted. The watch will
	// report that, and then the key comes back by itself. When there was no copy, a 409 or
	// 404 is about something else, such as a ResourceQuota: that isn't watched.
	if o.have != nil && (apierrors.IsConflict(err) || apierrors.IsNotFound(err)) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
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
	source    *corev1.Secret
	namespace *corev1.Namespace
	have      *corev1.Secret // where the copy should be
}

// cached reads from the caches, where the only error is that there is none.
func (c *controller) cached(key cache.ObjectName) (o observed) {
	o.source, _ = c.sources.Secrets(c.rules.sourceNamespace).Get(key.Name)
	o.namespace, _ = c.namespaces.Get(key.Namespace)
	o.have, _ = c.copies.Secrets(key.Namespace).Get(key.Name)
	return o
}

// live reads the same from the server.
func (c *controller) live(ctx context.Context, key cache.ObjectName) (observed, error) {
	source, sourceErr := found(c.client.CoreV1().Secrets(c.rules.sourceNamespace).Get(ctx, key.Name, metav1.GetOptions{}))
	namespace, namespaceErr := found(c.client.CoreV1().Namespaces().Get(ctx, key.Namespace, metav1.GetOptions{}))
	have, haveErr := found(c.client.CoreV1().Secrets(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}))
	if err := errors.Join(sourceErr, namespaceErr, haveErr); err != nil {
		return observed{}, fmt.Errorf("reading %s and its source from the server: %w", key, err)
	}
	return observed{source, namespace, have}, nil
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
	remove  action = "deleted"    // it should not be there, or not like that
	collide action = "left alone" // a secret of that name is there, and is not ours
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

// surplus is about a secret that has no reason to be there.
func (r rules) surplus(have *corev1.Secret, why string) decision {
	if have == nil || !r.made(have) || have.DeletionTimestamp != nil {
		return decision{leave, why}
	}
	return decision{remove, why}
}

// difference is about a copy of ours that should be there. The server refuses to
// change the type of a secret, the data of one that is immutable, and to make that mutable
// again: such a copy is deleted, and then it is missing. Metadata can always be changed.
func (r rules) difference(source, have *corev1.Secret) decision {
	switch {
	case have.Type != source.Type:
		return decision{remove, "its type differs"}
	case immutable(have) && (!immutable(source) || !sameData(have, source)):
		return decision{remove, "it differs and is immutable"}
	case !sameData(have, source):
		return decision{update, "its data differs"}
	case immutable(have) != immutable(source):
		return decision{update, "it should be immutable"}
	case have.Annotations[r.annotation] != r.mark(source, have.Namespace):
		return decision{update, "its source was created again"}
	default:
		return decision{leave, "it is as it should be"}
	}
}

// act does what was decided. No write can change anything but what the decision was
// about: to create fails if there is something, to update if it has another version by
// now, and to delete if it has another version or is another object.
func (c *controller) act(ctx context.Context, key cache.ObjectName, d decision, o observed) (err error) {
	secrets := c.client.CoreV1().Secrets(key.Namespace)
	switch d.action {
	case leave:
		return nil
	case collide:
		c.queue.AddAfter(key, retryAfter)
		if err = c.record(ctx, key, o); apierrors.IsAlreadyExists(err) {
			return nil // recorded before
		}
	case create:
		_, err = secrets.Create(ctx, c.rules.copyOf(o.source, key.Namespace, nil), metav1.CreateOptions{})
	case update:
		_, err = secrets.Update(ctx, c.rules.copyOf(o.source, key.Namespace, o.have), metav1.UpdateOptions{})
	case remove:
		err = secrets.Delete(ctx, key.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &o.have.UID, ResourceVersion: &o.have.ResourceVersion},
		})
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", key, err)
	}
	// Output that cannot be written is no reason to stop copying.
	_, _ = fmt.Fprintf(c.out, "%s %s: %s\n", d.action, key, d.why)
	return nil
}

// record writes an event about a secret in the way of a copy, where kubectl describe shows it
// to its owner. Its name is made of what it is about, so the server refuses a second one, also
// after a restart. The server forgets it after an hour (--event-ttl); then it's written again.
//
// client-go has a recorder, in tools/events. It sends in the background, and drops what it
// can't send. Here an event is written like anything else: if that fails, the key comes back.
func (c *controller) record(ctx context.Context, key cache.ObjectName, o observed) error {
	_, err := c.client.EventsV1().Events(key.Namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: key.Namespace, Name: fmt.Sprintf("%s.%s.%s", program, o.have.UID, o.source.UID)},
		EventTime:           metav1.NowMicro(),
		ReportingController: program,
		ReportingInstance:   program, // whichever replica it is
		Action:              "Copy",
		Type:                corev1.EventTypeWarning,
		Reason:              "NameCollision",
		Regarding:           corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: key.Namespace, Name: key.Name, UID: o.have.UID},
		Note: fmt.Sprintf("the source %s/%s is not copied to here, because secretsync did not make this secret and leaves it alone; rename or delete one of the two",
			o.source.Namespace, o.source.Name),
	}, metav1.CreateOptions{})
	return err
}
