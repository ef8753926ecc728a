package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// reconcileTimeout is how long one reconcile may take. It's less than the 30 s that a pod has to stop.
const reconcileTimeout = 20 * time.Second

// controller makes the copies what the rules want. Its queue holds namespaces and names of
// copies: each copy is a key of its own, so a namespace that refuses its copies doesn't
// delay the others.
//
// Outside the source namespace, the caches hold only secrets with our label. So they don't show
// a foreign secret where a copy should be. But the server refuses to create the copy, and
// that is early enough.
type controller struct {
	rules  rules
	client kubernetes.Interface // writes, and reads what must not be stale
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]
	out    io.Writer // all workers write to it

	namespaces corelisters.NamespaceLister // all of them: annotations can't be selected
	sources    corelisters.SecretLister    // the secrets of the source namespace, for the same reason
	copies     corelisters.SecretLister    // the secrets with our label, in all namespaces
	informers  []cache.SharedIndexInformer // of these three
	synced     []cache.DoneChecker
}

// newController prepares the caches. After each resync period all keys are enqueued.
func newController(client kubernetes.Interface, r rules, resync time.Duration, out io.Writer) (*controller, error) {
	namespaces := coreinformers.NewNamespaceInformer(client, resync, cache.Indexers{})
	sources := coreinformers.NewSecretInformer(client, r.sourceNamespace, 0, cache.Indexers{})
	copies := coreinformers.NewFilteredSecretInformer(client, metav1.NamespaceAll, resync, cache.Indexers{},
		func(options *metav1.ListOptions) { options.LabelSelector = selector })
	c := &controller{
		rules:  r,
		client: client,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			// A key that fails waits 100 ms, then twice as long each time, up to a minute.
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, time.Minute),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: program}),
		out:        out,
		namespaces: corelisters.NewNamespaceLister(namespaces.GetIndexer()),
		sources:    corelisters.NewSecretLister(sources.GetIndexer()),
		copies:     corelisters.NewSecretLister(copies.GetIndexer()),
		informers:  []cache.SharedIndexInformer{namespaces, sources, copies},
	}
	for _, informer := range c.informers {
		// A handler does no work. It adds the keys of what is to be reconciled.
		handled, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    c.enqueue,
			UpdateFunc: func(_, obj any) { c.enqueue(obj) },
			DeleteFunc: c.enqueue,
		})
		if err := errors.Join(err, informer.SetTransform(r.trim)); err != nil {
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
		sources, _ := c.sources.List(labels.Everything()) // from memory: that can't fail
		for _, source := range sources {
			c.queue.Add(cache.NewObjectName(name.Name, source.Name))
		}
	case c.rules.sourceNamespace: // a source: a copy in each namespace
		namespaces, _ := c.namespaces.List(labels.Everything())
		for _, namespace := range namespaces {
			c.queue.Add(cache.NewObjectName(namespace.Name, name.Name))
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
	for _, informer := range c.informers {
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
	// A reconcile that has begun is finished, but it doesn't take forever.
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
