package clientgo

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/clientgo/queue"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// createPod creates the pod of the At. If the server refuses, it returns what to do
// about that.
func (o *operator) createPod(ctx context.Context, seen lifecycle.Observed, event *lifecycle.Event) (lifecycle.Decision, error) {
	pod := lifecycle.DesiredPod(seen.At)
	_, err := o.kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case err == nil:
		klog.FromContext(ctx).Info("created the pod", "at", klog.KObj(seen.At), "pod", pod.Name)
		o.events.tell(ctx, seen.At, event)
		return lifecycle.Decision{}, nil // the event of the pod brings the key back
	case apierrors.IsAlreadyExists(err):
		existing, err := o.livePod(ctx, pod.Namespace, pod.Name)
		if err != nil {
			return lifecycle.Decision{}, err
		}
		return lifecycle.Exists(seen, existing), nil
	// The namespace is going, and the At with it.
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return lifecycle.Decision{}, nil
	}
	if d, refused := lifecycle.Refused(seen, err); refused {
		return d, nil
	}
	return lifecycle.Decision{}, fmt.Errorf("creating the pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// removeFinalizer lets the pod go.
func (o *operator) removeFinalizer(ctx context.Context, pod *corev1.Pod) error {
	_, err := o.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, lifecycle.FinalizerPatch(pod), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) { // it is gone
		return fmt.Errorf("removing the finalizer of the pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
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

	klog.FromContext(ctx).Info("wrote the status", "at", klog.KObj(at), "phase", written.Status.Phase)
	if d.Event != nil {
		o.events.tell(ctx, written, d.Event)
	}
	return nil
}
