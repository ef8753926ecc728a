package observe

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

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
