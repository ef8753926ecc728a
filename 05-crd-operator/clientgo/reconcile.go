package clientgo

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// staleRetry is how long to wait for a cache that is stale.
const staleRetry = time.Second

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
func (c *controller) reconcile(ctx context.Context, key cache.ObjectName) (err error) {
	defer recovered(&err)
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
		c.queue.AddAfter(key, staleRetry)
		return nil
	case apierrors.IsNotFound(err):
		return nil // it is gone, and an event will say so
	case err == nil && !d.Wake.IsZero():
		c.queue.AddAfter(key, d.Wake.Sub(c.clock.Now()))
	}
	return err
}

// observe reads the At and its pod from the caches, and from the server where a stale
// cache would do harm.
func (c *controller) observe(ctx context.Context, key cache.ObjectName) (o lifecycle.Observed, err error) {
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
func (c *controller) livePod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
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
func (c *controller) createPod(ctx context.Context, o lifecycle.Observed, event *lifecycle.Event) (lifecycle.Decision, error) {
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
func (c *controller) updateStatus(ctx context.Context, at *cnat.At, d lifecycle.Decision) error {
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
func (c *controller) removeFinalizer(ctx context.Context, pod *corev1.Pod) error {
	_, err := c.kubeClient.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, lifecycle.FinalizerPatch(pod), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("removing the finalizer of the pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
