package clientgo

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// reconcile takes one At one step further. It observes, lets package lifecycle
// decide, and makes at most one write.
func (o *operator) reconcile(ctx context.Context, key cache.ObjectName) error {
	seen, err := o.observe(ctx, key)
	if err != nil {
		return err
	}
	d := lifecycle.Decide(seen)
	if d.CreatePod {
		if d, err = o.createPod(ctx, seen, d.Event); err != nil {
			return err
		}
	}
	if d.Status != nil {
		if err := o.writeStatus(ctx, seen.At, d); err != nil {
			return err
		}
	}
	if d.RemoveFinalizer {
		if err := o.removeFinalizer(ctx, seen.Pod); err != nil {
			return err
		}
	}
	if !d.Wake.IsZero() {
		o.queue.EnqueueAt(key, d.Wake)
	}
	return nil
}

// observe reads the At and its pod from the caches, and from the server where a
// stale cache would do harm.
func (o *operator) observe(ctx context.Context, key cache.ObjectName) (seen lifecycle.Observed, err error) {
	seen.Now = o.clock.Now()
	// A cache knows no other error than that it is not there.
	if at, err := o.caches.ats.Ats(key.Namespace).Get(key.Name); err == nil {
		seen.At = at
	}
	if pod, err := o.caches.pods.Pods(key.Namespace).Get(lifecycle.PodName(key.Name)); err == nil {
		seen.Pod = pod
	}
	if lifecycle.NeedsLiveAt(seen) {
		seen.At, err = o.ats.CnatV1alpha1().Ats(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			seen.At = nil
		case err != nil:
			return seen, fmt.Errorf("reading the At %s: %w", key, err)
		}
	}
	if lifecycle.NeedsLivePod(seen) {
		seen.Pod, err = o.livePod(ctx, key.Namespace, lifecycle.PodName(key.Name))
		return seen, err
	}
	return seen, nil
}

// livePod reads the pod from the server. It is nil if there is none.
func (o *operator) livePod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod, err := o.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the pod %s/%s: %w", namespace, name, err)
	}
	return pod, nil
}
