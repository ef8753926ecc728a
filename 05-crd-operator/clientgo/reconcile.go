package clientgo

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/clientgo/queue"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// reconcile looks, decides and acts. It does at most one thing.
func (o *operator) reconcile(ctx context.Context, key cache.ObjectName) error {
	seen, err := o.observe(ctx, key)
	if err != nil || seen.At == nil {
		return err
	}
	d := lifecycle.Decide(seen)

	if d.CreatePod {
		exists, err := o.createPod(ctx, seen.At)
		if err != nil || !exists {
			return err // once the pod is there, its event brings the key back
		}
		// The server has a pod that the cache does not show: a foreign one, or
		// ours from just before a crash. Look at it, and decide again.
		if seen.Pod, err = o.askForPod(ctx, seen.At); err != nil {
			return err
		}
		if d = lifecycle.Decide(seen); d.CreatePod {
			return queue.ErrAgain // it has gone in between
		}
	}
	if d.Status != nil {
		if err := o.writeStatus(ctx, seen.At, d); err != nil {
			return err
		}
	}
	if !d.Wake.IsZero() {
		o.queue.EnqueueAt(key, d.Wake)
	}
	return nil
}

// observe looks into the caches, and at what they may not have heard of yet. If
// there is no At, nothing is to be done: the garbage collector sees to the pod.
func (o *operator) observe(ctx context.Context, key cache.ObjectName) (lifecycle.Observed, error) {
	at, err := o.caches.ats.Ats(key.Namespace).Get(key.Name)
	if err != nil { // a cache knows no other error than that it is not there
		o.memory.forget(key)
		return lifecycle.Observed{}, nil
	}
	at = o.memory.newest(at)
	pod, err := o.caches.pods.Pods(key.Namespace).Get(lifecycle.PodName(at))
	if err != nil {
		pod = nil
	}
	seen := lifecycle.Observed{At: at, Pod: pod, Started: o.memory.hasStarted(at), Now: o.clock.Now()}

	// The only read, and a rare one.
	if lifecycle.LostPod(seen) {
		if seen.Pod, err = o.askForPod(ctx, at); err != nil {
			return lifecycle.Observed{}, err
		}
	}
	return seen, nil
}

// askForPod looks at the server, not at the cache. nil is that there is none.
func (o *operator) askForPod(ctx context.Context, at *cnat.At) (*corev1.Pod, error) {
	pod, err := o.kube.CoreV1().Pods(at.Namespace).Get(ctx, lifecycle.PodName(at), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking at the pod %s/%s: %w", at.Namespace, lifecycle.PodName(at), err)
	}
	return pod, nil
}
