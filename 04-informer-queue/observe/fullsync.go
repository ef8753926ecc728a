package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// fullSync are the keys of the running full sync that have not been reconciled yet; without any,
// none is running. The first full sync starts when the cache has synced; --resync-period starts
// others. It has ended when each key was reconciled, or has failed; with --once, a key that failed
// is retried first.
//
// It needs no lock: the informer adds what exists at the start, and only then the worker begins.
type fullSync map[cache.ObjectName]bool

// join adds a key if a full sync is running.
func (s fullSync) join(k cache.ObjectName) {
	if len(s) > 0 {
		s[k] = true
	}
}

// done takes a key out and reports whether it was the last.
func (s fullSync) done(k cache.ObjectName) bool {
	last := s[k] && len(s) == 1
	delete(s, k)
	return last
}

// resync replays everything as Sync. While a full sync is still running, the next time is early
// enough.
func (c *controller) resync() {
	defer c.queue.AddAfter(resyncKey, c.options.resyncPeriod)
	if len(c.fullSync) > 0 {
		return
	}
	c.fullSync[resyncKey] = true
	c.syncStarted()
	for _, object := range c.informer.GetStore().List() {
		k := cache.MetaObjectToName(object.(*unstructured.Unstructured))
		c.fullSync[k] = true
		c.enqueue(k, event{present: syncEvent}, syncEvent)
	}
}

// syncStarted also reports that there is nothing to do, which would look like a program that
// hangs. The commonest reason is the wrong namespace.
func (c *controller) syncStarted() {
	c.children.header("Sync started")
	if len(c.informer.GetStore().ListKeys()) == 0 {
		c.children.header("Sync found no " + c.scope.String())
	}
}

// syncEnded is the end of a program that is to run --once.
func (c *controller) syncEnded() {
	c.children.header("Sync ended")
	switch {
	case !c.options.once:
	case len(c.givenUp) == 0:
		c.end(errDone)
	default:
		c.end(fmt.Errorf("%d failed; the last was %w; fix that, and run observe again", len(c.givenUp), c.lastError))
	}
}
