package clientgo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/05-crd-operator/access"
	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/clientgo/controller"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	cnatinformers "example.com/hacking-a-controller/05-crd-operator/generated/informers/externalversions/cnat/v1alpha1"
	cnatlisters "example.com/hacking-a-controller/05-crd-operator/generated/listers/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// staleRetry is how long to wait for a cache that is stale.
const staleRetry = time.Second

// Options say where to work, and when.
type Options struct {
	// Namespace is where the Ats are; metav1.NamespaceAll is everywhere.
	Namespace string
	// Workers is how many Ats to reconcile at the same time.
	Workers int
	// Image is what commands run in. The default is lifecycle.DefaultImage.
	Image string
	// Clock decides when an At is due.
	Clock clock.WithTicker
}

// Run works until the context ends, and waits for all that it started. It returns an
// error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	ats, atsErr := versioned.NewForConfig(config)
	kube, kubeErr := kubernetes.NewForConfig(config)
	if err := errors.Join(atsErr, kubeErr); err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	err := access.Check(ctx, config, o.Namespace,
		access.Read{GroupVersionResource: cnat.SchemeGroupVersion.WithResource("ats")},
		access.Read{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("pods"), Labels: lifecycle.PodSelector},
	)
	switch {
	case ctx.Err() != nil:
		return nil // interrupted
	case err != nil:
		return cli.Explain(err, config.Host)
	}
	c, err := NewController(ats, kube, o)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	for _, informer := range c.informers {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	c.queue.Run(ctx, max(o.Workers, 1), c.reconcile, c.synced...)
	running.Wait()
	return nil
}

// Controller runs the commands of Ats. Its queue holds their names. Its caches have all
// Ats, and the pods that bear our label. Other pods are never sent to this program. So
// the caches do not show a foreign pod that has the name of an At's pod; but the server
// refuses to create ours, and that is early enough.
type Controller struct {
	atClient   versioned.Interface
	kubeClient kubernetes.Interface
	clock      clock.PassiveClock
	image      string // what commands run in
	queue      *controller.Controller[cache.ObjectName]

	ats       cnatlisters.AtLister  // reads from the cache, never from the server
	pods      corelisters.PodLister // the same
	informers []cache.SharedIndexInformer
	synced    []cache.DoneChecker
}

// NewController prepares the caches and the queue.
func NewController(ats versioned.Interface, kube kubernetes.Interface, o Options) (*Controller, error) {
	atInformer := cnatinformers.NewAtInformer(ats, o.Namespace, 0, cache.Indexers{})
	podInformer := coreinformers.NewFilteredPodInformer(kube, o.Namespace, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.LabelSelector = lifecycle.PodSelector })
	c := &Controller{
		atClient:   ats,
		kubeClient: kube,
		clock:      o.Clock,
		image:      cmp.Or(o.Image, lifecycle.DefaultImage),
		queue:      controller.New[cache.ObjectName]("clientgo", o.Clock),
		ats:        cnatlisters.NewAtLister(atInformer.GetIndexer()),
		pods:       corelisters.NewPodLister(podInformer.GetIndexer()),
		informers:  []cache.SharedIndexInformer{atInformer, podInformer},
	}
	return c, errors.Join(
		atInformer.SetTransform(dropManagedFields),
		podInformer.SetTransform(dropManagedFields),
		c.handle(atInformer, c.atChanged),
		c.handle(podInformer, c.podChanged),
	)
}

// dropManagedFields drops who wrote which field. That is half of an object, and nothing
// here reads it.
func dropManagedFields(obj any) (any, error) {
	if o, ok := obj.(metav1.Object); ok { // and not a DeletedFinalStateUnknown
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// handle calls a function when an object was added, updated or deleted.
func (c *Controller) handle(informer cache.SharedIndexInformer, changed func(was, is any)) error {
	handled, err := informer.AddEventHandler(handlers(changed))
	if err != nil {
		return err
	}
	// Not the informer's HasSynced: that is true when the cache is full, and this
	// when the handler has been called for all that is in it.
	c.synced = append(c.synced, handled.HasSyncedChecker())
	return nil
}

// handlers call a function with an object, and after an update also with what it was.
func handlers(changed func(was, is any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { changed(nil, obj) },
		UpdateFunc: changed,
		DeleteFunc: func(obj any) {
			if deleted, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = deleted.Obj // the watch missed the deletion; this is the last state known
			}
			changed(nil, obj)
		},
	}
}

// atChanged enqueues an At that is new, or gone, or has another step to take: its spec
// has changed, which its generation counts, or its phase. Another UID is another At; the
// watch was down while one was deleted and the other created.
func (c *Controller) atChanged(was, is any) {
	before, updated := was.(*cnat.At)
	after := is.(*cnat.At)
	if !updated || before.Generation != after.Generation || before.Status.Phase != after.Status.Phase || before.UID != after.UID {
		c.queue.Enqueue(cache.MetaObjectToName(after))
	}
}

// podChanged enqueues the At that the pod may be of.
func (c *Controller) podChanged(_, is any) {
	pod := is.(*corev1.Pod)
	if name, ok := lifecycle.AtOf(pod); ok {
		c.queue.Enqueue(cache.NewObjectName(pod.Namespace, name))
	}
}

// What the operator must be allowed to do, and no more. controller-gen writes
// config/rbac/clientgo.yaml from these markers.
//
// +kubebuilder:rbac:groups=cnat.programming-kubernetes.info,resources=ats,verbs=get;list;watch
// +kubebuilder:rbac:groups=cnat.programming-kubernetes.info,resources=ats/status,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=create;get;list;patch;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// reconcile takes one At one step further. It observes, lets package lifecycle decide,
// and makes at most one write. The event of that write brings the key back for the next
// step.
func (c *Controller) reconcile(ctx context.Context, key cache.ObjectName) error {
	o, err := c.observe(ctx, key)
	if err != nil {
		return err
	}
	d := lifecycle.Decide(o)
	if d.CreatePod {
		// If the server refuses, a status says why.
		if d, err = c.createPod(ctx, o, d.Event); err != nil {
			return err
		}
	}
	if d.Status != nil {
		err = c.updateStatus(ctx, o.At, d)
	}
	if d.RemoveFinalizer {
		err = c.removeFinalizer(ctx, o.Pod)
	}
	switch {
	// The cache is stale, and will catch up. As an error this would be in the log,
	// and there is nothing to report.
	case lifecycle.IsConflict(err):
		c.queue.EnqueueAfter(key, staleRetry)
		return nil
	case apierrors.IsNotFound(err):
		return nil // it is gone, and an event will say so
	case err == nil && !d.Wake.IsZero():
		c.queue.EnqueueAt(key, d.Wake)
	}
	return err
}

// observe reads the At and its pod from the caches, and from the server where a stale
// cache would do harm.
func (c *Controller) observe(ctx context.Context, key cache.ObjectName) (o lifecycle.Observed, err error) {
	o.Now = c.clock.Now()
	podName := lifecycle.PodName(key.Name)
	if o.At, err = found(c.ats.Ats(key.Namespace).Get(key.Name)); err != nil {
		return o, fmt.Errorf("reading the At %s from the cache: %w", key, err)
	}
	if o.Pod, err = found(c.pods.Pods(key.Namespace).Get(podName)); err != nil {
		return o, fmt.Errorf("reading the pod of %s from the cache: %w", key, err)
	}
	if lifecycle.MayHaveLostPod(o) {
		if o.Pod, err = c.livePod(ctx, key.Namespace, podName); err != nil {
			return o, err
		}
	}
	if lifecycle.NeedsLiveAt(o) {
		if o.At, err = found(c.atClient.CnatV1alpha1().Ats(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})); err != nil {
			return o, fmt.Errorf("reading the At %s: %w", key, err)
		}
	}
	if lifecycle.NeedsLivePod(o) {
		o.Pod, err = c.livePod(ctx, key.Namespace, podName)
	}
	return o, err
}

// livePod reads the pod from the server. It is nil if there is none.
func (c *Controller) livePod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod, err := found(c.kubeClient.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{}))
	if err != nil {
		return nil, fmt.Errorf("reading the pod %s/%s: %w", namespace, name, err)
	}
	return pod, nil
}

// found turns an object that is not found into nil.
func found[T any](obj *T, err error) (*T, error) {
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// createPod creates the pod of the At. If the server refuses, it returns what to do about
// that.
func (c *Controller) createPod(ctx context.Context, o lifecycle.Observed, event *lifecycle.Event) (lifecycle.Decision, error) {
	pod := lifecycle.DesiredPod(o.At, c.image)
	_, err := c.kubeClient.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case err == nil:
		klog.FromContext(ctx).Info("created the pod", "at", klog.KObj(o.At), "pod", pod.Name)
		c.record(ctx, o.At, event)
		return lifecycle.Decision{}, nil // the event of the pod brings the key back
	case apierrors.IsAlreadyExists(err):
		existing, err := c.livePod(ctx, pod.Namespace, pod.Name)
		if err != nil {
			return lifecycle.Decision{}, err
		}
		return lifecycle.Exists(o, existing), nil
	}
	if d, refused := lifecycle.Refused(o, err); refused {
		return d, nil
	}
	return lifecycle.Decision{}, fmt.Errorf("creating the pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// updateStatus writes the status, and the event about it. The resource version goes with
// it: if the At has changed since it was observed, the server refuses.
func (c *Controller) updateStatus(ctx context.Context, at *cnat.At, d lifecycle.Decision) error {
	at = at.DeepCopy() // what is in a cache belongs to all who read it
	at.Status = *d.Status
	if _, err := c.atClient.CnatV1alpha1().Ats(at.Namespace).UpdateStatus(ctx, at, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the status of the At %s/%s: %w", at.Namespace, at.Name, err)
	}
	klog.FromContext(ctx).Info("wrote the status", "at", klog.KObj(at), "phase", at.Status.Phase)
	c.record(ctx, at, d.Event)
	return nil
}

// removeFinalizer lets the pod go.
func (c *Controller) removeFinalizer(ctx context.Context, pod *corev1.Pod) error {
	_, err := c.kubeClient.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, lifecycle.FinalizerPatch(pod), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("removing the finalizer of the pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
