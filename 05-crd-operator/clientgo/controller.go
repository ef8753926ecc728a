package clientgo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	cnatinformers "example.com/hacking-a-controller/05-crd-operator/generated/informers/externalversions/cnat/v1alpha1"
	cnatlisters "example.com/hacking-a-controller/05-crd-operator/generated/listers/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// reconcileTimeout is how long one reconcile may take. It's less than the 30 s that a pod has to stop.
const reconcileTimeout = 15 * time.Second

// controller runs the commands of Ats. Its queue holds their names. Its caches have all Ats, and
// the pods that bear our label. Other pods are never sent to this program. So the caches do not
// show a foreign pod that has the name of an At's pod; but the server refuses to create ours, and
// that is early enough.
type controller struct {
	atClient   versioned.Interface
	kubeClient kubernetes.Interface
	clock      clock.PassiveClock
	image      string // what commands run in
	queue      workqueue.TypedRateLimitingInterface[cache.ObjectName]

	ats       cnatlisters.AtLister  // reads from the cache, never from the server
	pods      corelisters.PodLister // the same
	informers []cache.SharedIndexInformer
	synced    []cache.DoneChecker
}

// newController prepares the caches and the queue.
func newController(ats versioned.Interface, kube kubernetes.Interface, o Options) (*controller, error) {
	atInformer := cnatinformers.NewAtInformer(ats, o.Namespace, 0, cache.Indexers{})
	podInformer := coreinformers.NewFilteredPodInformer(kube, o.Namespace, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.LabelSelector = lifecycle.PodSelector })
	c := &controller{
		atClient:   ats,
		kubeClient: kube,
		clock:      o.Clock,
		image:      cmp.Or(o.Image, lifecycle.DefaultImage),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			// A key that fails waits 100 ms, then twice as long each time, up to a minute.
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, time.Minute),
			// The clock decides when a key is due that waits for a time of day.
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "clientgo", Clock: o.Clock}),
		ats:       cnatlisters.NewAtLister(atInformer.GetIndexer()),
		pods:      corelisters.NewPodLister(podInformer.GetIndexer()),
		informers: []cache.SharedIndexInformer{atInformer, podInformer},
	}
	// A handler does no work. It adds the key of what is to be reconciled.
	handlers := []cache.ResourceEventHandlerFuncs{
		{AddFunc: c.enqueue, UpdateFunc: c.enqueueNextStep, DeleteFunc: c.enqueue},
		{AddFunc: c.enqueueAtOf, UpdateFunc: func(_, pod any) { c.enqueueAtOf(pod) }, DeleteFunc: c.enqueueAtOf},
	}
	for i, informer := range c.informers {
		handled, err := informer.AddEventHandler(handlers[i])
		if err = errors.Join(err, informer.SetTransform(dropManagedFields)); err != nil {
			return nil, err
		}
		// Not the informer's HasSynced: that is true when the cache is full, and this
		// when the handler has been called for all that is in it.
		c.synced = append(c.synced, handled.HasSyncedChecker())
	}
	return c, nil
}

// dropManagedFields drops who wrote which field. That is half of an object, and nothing
// here reads it.
func dropManagedFields(obj any) (any, error) {
	if o, ok := obj.(metav1.Object); ok { // and not a DeletedFinalStateUnknown
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// enqueue adds the name of an At. A key that is waiting is not added twice.
func (c *controller) enqueue(obj any) {
	if at, err := cache.DeletionHandlingObjectToName(obj); err == nil { // the watch may have missed the deletion
		c.queue.Add(at)
	}
}

// enqueueNextStep adds the name of an At that has another step to take: its spec has changed,
// which its generation counts, or its phase. Another UID is another At; the watch was down while
// one was deleted and the other created.
func (c *controller) enqueueNextStep(was, is any) {
	before, after := was.(*cnat.At), is.(*cnat.At)
	if before.Generation != after.Generation || before.Status.Phase != after.Status.Phase || before.UID != after.UID {
		c.enqueue(after)
	}
}

// enqueueAtOf adds the name of the At that the pod may be of.
func (c *controller) enqueueAtOf(obj any) {
	pod, err := cache.DeletionHandlingObjectToName(obj)
	if err != nil {
		return // no pod, and no state of one
	}
	if at, ok := lifecycle.AtOf(&metav1.ObjectMeta{Name: pod.Name}); ok {
		c.queue.Add(cache.NewObjectName(pod.Namespace, at))
	}
}

// run reconciles until the context ends, and returns when each worker has finished its key.
// Keys that are still waiting are dropped: the next start adds all of them.
func (c *controller) run(ctx context.Context, workers int, reconcile func(context.Context, cache.ObjectName) error) {
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
			for c.processNextItem(ctx, reconcile) {
			}
		})
	}
}

// processNextItem takes one key from the queue. It returns false after shutdown.
func (c *controller) processNextItem(ctx context.Context, reconcile func(context.Context, cache.ObjectName) error) bool {
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

	if err := reconcile(limited, key); err != nil {
		klog.FromContext(ctx).Error(err, "trying again later", "key", key.String(), "failures", c.queue.NumRequeues(key)+1)
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key) // its failures, so that the next one is retried soon
	return true
}

// recovered makes an error of a panic: one At that nobody thought of must not stop the work on all others.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("reconcile panicked: %v\n%s", r, debug.Stack())
	}
}
