package clientgo

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/clientgo/queue"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// createPod creates the pod of the At, unless a pod of that name exists.
func (o *operator) createPod(ctx context.Context, at *cnat.At) (exists bool, err error) {
	pod := lifecycle.DesiredPod(at)
	_, err = o.kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case err == nil:
		o.memory.start(at)
		klog.FromContext(ctx).Info("created the pod", "at", klog.KObj(at), "pod", pod.Name)
		return false, nil
	case apierrors.IsAlreadyExists(err):
		return true, nil
	// The namespace is going, and the At with it. To try again is of no use.
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return false, nil
	default:
		return false, fmt.Errorf("creating the pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
}

// writeStatus writes the status, and then tells of it. The resource version goes
// with it: if the At has changed since it was looked at, the server refuses.
func (o *operator) writeStatus(ctx context.Context, at *cnat.At, d lifecycle.Decision) error {
	changed := at.DeepCopy() // what is in a cache belongs to all who read it
	changed.Status = *d.Status
	written, err := o.ats.CnatV1alpha1().Ats(at.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err):
		return queue.ErrAgain // the cache is behind
	case apierrors.IsNotFound(err):
		return nil // it is gone, and the cache will hear of it
	case err != nil:
		return fmt.Errorf("writing the status of the At %s/%s: %w", at.Namespace, at.Name, err)
	}

	o.memory.write(written)
	// The watch may have been faster than the answer.
	if cached, err := o.caches.ats.Ats(at.Namespace).Get(at.Name); err == nil {
		o.memory.catchUp(cached)
	}
	klog.FromContext(ctx).Info("wrote the status", "at", klog.KObj(at), "phase", written.Status.Phase)
	if d.Event != nil {
		o.events.tell(ctx, written, d.Event)
	}
	return nil
}
