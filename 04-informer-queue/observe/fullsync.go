package main

import "fmt"

// The first full sync starts when the cache has synced; --resync-period starts others. It has
// ended when each of its keys was reconciled, or has failed; with --once, a key that failed is
// retried first.

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
		c.OnAdd(object, true) // as at the start
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
