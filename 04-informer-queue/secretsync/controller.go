package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// reconcileTimeout is how long one reconcile may take. It's less than the 30 s that a pod has to stop.
const reconcileTimeout = 20 * time.Second

// controller makes the copies what the rules want. Its queue holds namespaces and names of
// copies: each copy is a key of its own, so many workers can be busy, and a namespace
// that refuses its copies does not delay the others.
//
// Its caches have what matters of the cluster:
//
//	namespaces   all of them, because annotations cannot be selected
//	sources      the secrets of the source namespace, for the same reason
//	copies       the secrets that bear our label, in all namespaces
//
// All other secrets of the cluster are never sent to this program. So the caches do not
// show a foreign secret where a copy should be. But the server refuses to create the
// copy, and that is early enough.
type controller struct {
	rules  rules
	client kubernetes.Interface // writes, and reads what must not be stale
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]
	out    io.Writer // all workers write to it

	namespaces, sources, copies cache.SharedIndexInformer
	synced                      []cache.DoneChecker
}

// newController prepares the caches. After each resync period all keys are enqueued.
func newController(client kubernetes.Interface, r rules, resync time.Duration, out io.Writer) (*controller, error) {
	c := &controller{
		rules:  r,
		client: client,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			// A key that fails waits 100 ms, then twice as long each time, up to a minute.
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, time.Minute),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: program}),
		out:        out,
		namespaces: coreinformers.NewNamespaceInformer(client, resync, cache.Indexers{}),
		sources:    coreinformers.NewSecretInformer(client, r.sourceNamespace, 0, cache.Indexers{}),
		copies: coreinformers.NewFilteredSecretInformer(client, metav1.NamespaceAll, resync, cache.Indexers{},
			func(options *metav1.ListOptions) { options.LabelSelector = copies }),
	}
	err := errors.Join(
		c.sources.SetTransform(transform(r.trimSource)),
		c.copies.SetTransform(transform(trim)),
	)
	// A handler does no work. It adds the keys of what is to be reconciled.
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, obj any) { c.enqueue(obj) },
		DeleteFunc: c.enqueue,
	}
	for _, informer := range []cache.SharedIndexInformer{c.namespaces, c.sources, c.copies} {
		handled, handledErr := informer.AddEventHandler(handler)
		if err = errors.Join(err, handledErr); err != nil {
			return nil, err
		}
		// Not the informer's HasSynced: that is true when the cache is full, and this
		// when the handler has been called for all that is in it.
		c.synced = append(c.synced, handled.HasSyncedChecker())
	}
	return c, nil
}

// enqueue adds the key of each copy that the object may concern. A key for which nothing
// is to be done costs a few reads from memory.
func (c *controller) enqueue(obj any) {
	name, err := cache.DeletionHandlingObjectToName(obj) // the watch may have missed the deletion
	if err != nil {
		return // no object, and no state of one
	}
	switch name.Namespace {
	case "": // a namespace: a copy of each source
		for _, source := range c.sources.GetStore().List() {
			c.queue.Add(cache.NewObjectName(name.Name, source.(*secret).Name))
		}
	case c.rules.sourceNamespace: // a source: a copy in each namespace
		for _, namespace := range c.namespaces.GetStore().List() {
			c.queue.Add(cache.NewObjectName(namespace.(*corev1.Namespace).Name, name.Name))
		}
	default:
		c.queue.Add(name) // a copy
	}
}

// run reconciles until the context ends, and returns when each worker has finished its key.
// Keys that are still waiting are dropped: the next start adds all of them.
func (c *controller) run(ctx context.Context, workers int) {
	// Shutdown wakes the workers that wait for a key.
	context.AfterFunc(ctx, c.queue.ShutDown)
	var running sync.WaitGroup
	defer running.Wait()
	for _, informer := range []cache.SharedIndexInformer{c.namespaces, c.sources, c.copies} {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	// Until the caches are full, it looks as if the rest had been deleted.
	if !cache.WaitFor(ctx, "", c.synced...) {
		return // interrupted
	}
	for range workers {
		running.Go(func() {
			for c.processNextItem(ctx) {
			}
		})
	}
}

// processNextItem takes one key from the queue. It returns false after shutdown.
func (c *controller) processNextItem(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key) // until then, no other worker gets this key
	if ctx.Err() != nil {
		return false
	}
	// A reconcile that has begun is finished, but it doesn't take for ever.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), reconcileTimeout)
	defer cancel()

	if err := c.reconcile(limited, key); err != nil {
		klog.FromContext(ctx).Error(err, "trying again later", "key", key.String(), "failures", c.queue.NumRequeues(key)+1)
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key) // its failures, so that the next one is retried soon
	return true
}
