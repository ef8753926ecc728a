package clientgo

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/05-crd-operator/generated/informers/externalversions"
	cnatlisters "example.com/hacking-a-controller/05-crd-operator/generated/listers/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// caches know all Ats, and the pods that bear the operator's label. Other pods
// are never sent here. The price is not to see a foreign pod that has the name of
// an At's pod; but the server does, and refuses to create ours. That is early
// enough.
type caches struct {
	ats     cnatlisters.AtLister
	pods    corelisters.PodLister
	handled []cache.InformerSynced

	atFactory  externalversions.SharedInformerFactory
	podFactory informers.SharedInformerFactory
}

// newCaches prepares the caches. They call enqueue with the name of an At when
// something has changed that its next step may depend on.
func newCaches(ats versioned.Interface, kube kubernetes.Interface, namespace string, enqueue func(cache.ObjectName)) (*caches, error) {
	c := &caches{
		atFactory: externalversions.NewSharedInformerFactoryWithOptions(ats, 0,
			externalversions.WithNamespace(namespace), externalversions.WithTransform(dropManagedFields)),
		podFactory: informers.NewSharedInformerFactoryWithOptions(kube, 0,
			informers.WithNamespace(namespace), informers.WithTransform(dropManagedFields),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = lifecycle.PodSelector })),
	}
	atInformer, podInformer := c.atFactory.Cnat().V1alpha1().Ats(), c.podFactory.Core().V1().Pods()
	c.ats, c.pods = atInformer.Lister(), podInformer.Lister()

	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		atInformer.Informer():  atHandler(enqueue),
		podInformer.Informer(): podHandler(enqueue),
	} {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return nil, fmt.Errorf("adding a handler: %w", err)
		}
		// Not the informer's HasSynced: that is true when the cache is full, and
		// this when the handler has also been told of all that is in it.
		c.handled = append(c.handled, registration.HasSynced)
	}
	return c, nil
}

// dropManagedFields drops who wrote which field. That is half of an object, and
// nobody asks for it here.
func dropManagedFields(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok { // and not a tombstone
		o.SetManagedFields(nil)
	}
	return object, nil
}

// start keeps the caches up to date until the context ends.
func (c *caches) start(ctx context.Context) {
	c.atFactory.StartWithContext(ctx)
	c.podFactory.StartWithContext(ctx)
}

// wait returns when what start began has ended.
func (c *caches) wait() {
	c.atFactory.Shutdown()
	c.podFactory.Shutdown()
}

// atHandler enqueues an At that is new, or gone, or has another step to take: its
// spec has changed, which the generation counts, or its phase.
func atHandler(enqueue func(cache.ObjectName)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(is any) { enqueue(cache.MetaObjectToName(is.(*cnat.At))) },
		UpdateFunc: func(before, after any) {
			was, is := before.(*cnat.At), after.(*cnat.At)
			// Another UID is another At: the watch was down while one was deleted
			// and the other created.
			if was.Generation != is.Generation || was.Status.Phase != is.Status.Phase || was.UID != is.UID {
				enqueue(cache.MetaObjectToName(is))
			}
		},
		DeleteFunc: func(was any) {
			enqueue(cache.MetaObjectToName(lastSeen[*cnat.At](was)))
		},
	}
}

// podHandler enqueues the At that the pod is of.
func podHandler(enqueue func(cache.ObjectName)) cache.ResourceEventHandler {
	changed := func(pod *corev1.Pod) {
		if name, ok := lifecycle.AtOf(pod); ok {
			enqueue(cache.NewObjectName(pod.Namespace, name))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(is any) { changed(is.(*corev1.Pod)) },
		UpdateFunc: func(_, is any) { changed(is.(*corev1.Pod)) },
		DeleteFunc: func(was any) { changed(lastSeen[*corev1.Pod](was)) },
	}
}

// lastSeen is the object that was deleted. If it went while the watch was down,
// nobody saw it go, and a tombstone has what was seen of it before.
func lastSeen[T any](was any) T {
	if tombstone, ok := was.(cache.DeletedFinalStateUnknown); ok {
		was = tombstone.Obj
	}
	return was.(T)
}
