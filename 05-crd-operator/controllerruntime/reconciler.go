package controllerruntime

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

const (
	// timeout is how long one pass may take.
	timeout = time.Minute
	// pause is how long to wait for a cache that is behind.
	pause = time.Second
)

// reconciler looks, decides and acts.
type reconciler struct {
	client.Client               // reads from the caches, and writes to the server
	server        client.Reader // reads from the server
	events        events.EventRecorder
	clock         clock.PassiveClock
	memory        *memory
}

// Reconcile looks at the At of this name, and does at most one thing about it.
//
// What the queue of stage 4 shows is behind this call. The framework has taken
// the key with Get, and calls Done when this returns; in between, no other worker
// gets the key. An error is logged, and AddRateLimited. A RequeueAfter is Forget
// and AddAfter. Neither is Forget. A panic is an error like any other.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	// Told to stop, the framework still hands out all keys that wait, with a
	// context that has ended. A request in hand would be cut off by that context,
	// and nobody would know whether the server has done it. So no key is begun,
	// and what was begun is finished.
	if ctx.Err() != nil {
		return reconcile.Result{}, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()

	seen, err := r.observe(ctx, request.NamespacedName)
	if err != nil || seen.At == nil {
		return reconcile.Result{}, err
	}
	d := lifecycle.Decide(seen)

	if d.CreatePod {
		exists, err := r.createPod(ctx, seen.At)
		if err != nil || !exists {
			return reconcile.Result{}, err // once the pod is there, its event brings the key back
		}
		// The server has a pod that the cache does not show: a foreign one, or
		// ours from just before a crash. Look at it, and decide again.
		if seen.Pod, err = getPod(ctx, r.server, seen.At); err != nil {
			return reconcile.Result{}, err
		}
		if d = lifecycle.Decide(seen); d.CreatePod {
			return reconcile.Result{RequeueAfter: pause}, nil // it has gone in between
		}
	}
	if d.Status != nil {
		switch err := r.writeStatus(ctx, seen.At, d); {
		// It has changed since the cache saw it, and the cache will catch up. As
		// an error this would be in the log, and there is nothing to report.
		case apierrors.IsConflict(err):
			return reconcile.Result{RequeueAfter: pause}, nil
		case err != nil:
			return reconcile.Result{}, client.IgnoreNotFound(err) // if it is gone, the cache will hear of it
		}
	}
	return r.wakeAt(ctx, request, d.Wake)
}

// observe looks into the caches, and at what they may not have heard of yet. If
// there is no At, nothing is to be done: the garbage collector sees to the pod.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (lifecycle.Observed, error) {
	// The equivalent of a lister's Get. But this is a copy of what is in the
	// cache, and may be changed.
	at := &cnat.At{}
	if err := r.Get(ctx, key, at); apierrors.IsNotFound(err) {
		r.memory.forget(key)
		return lifecycle.Observed{}, nil
	} else if err != nil {
		return lifecycle.Observed{}, fmt.Errorf("looking for the At in the cache: %w", err)
	}
	at = r.memory.newest(at)
	pod, err := getPod(ctx, r.Client, at)
	if err != nil {
		return lifecycle.Observed{}, err
	}
	seen := lifecycle.Observed{At: at, Pod: pod, Started: r.memory.hasStarted(at), Now: r.clock.Now()}

	// The only read, and a rare one.
	if lifecycle.LostPod(seen) {
		seen.Pod, err = getPod(ctx, r.server, at)
	}
	return seen, err
}

// getPod returns the pod that has the name of the At's pod, or nil if there is
// none. To read from the cache or from the server looks the same.
func getPod(ctx context.Context, from client.Reader, at *cnat.At) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	key := types.NamespacedName{Namespace: at.Namespace, Name: lifecycle.PodName(at)}
	switch err := from.Get(ctx, key, pod); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking for the pod %s: %w", key, err)
	}
	return pod, nil
}

// createPod creates the pod of the At, unless a pod of that name exists.
func (r *reconciler) createPod(ctx context.Context, at *cnat.At) (exists bool, err error) {
	pod := lifecycle.DesiredPod(at)
	switch err := r.Create(ctx, pod); {
	case err == nil:
		r.memory.start(at)
		klog.FromContext(ctx).Info("created the pod", "pod", pod.Name)
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
func (r *reconciler) writeStatus(ctx context.Context, at *cnat.At, d lifecycle.Decision) error {
	written := at.DeepCopy() // what is remembered is not to be changed
	written.Status = *d.Status
	if err := r.Status().Update(ctx, written); err != nil { // and reads the answer into the same variable
		return fmt.Errorf("writing the status of the At %s/%s: %w", at.Namespace, at.Name, err)
	}
	r.memory.write(written)
	// The watch may have been faster than the answer.
	cached := &cnat.At{}
	if err := r.Get(ctx, client.ObjectKeyFromObject(at), cached); err == nil {
		r.memory.catchUp(cached)
	}
	klog.FromContext(ctx).Info("wrote the status", "phase", written.Status.Phase)

	if d.Event != nil {
		// Sent in the background, each in a goroutine of its own. What is on its
		// way when the manager stops is lost, and so is what comes too fast: the
		// recorder keeps a thousand. The status is what counts.
		r.events.Eventf(written, nil, d.Event.Type, d.Event.Reason, "RunCommand", "%s", d.Event.Note)
	}
	return nil
}

// wakeAt asks to be called again at that time, unless it is zero.
func (r *reconciler) wakeAt(ctx context.Context, request reconcile.Request, wake time.Time) (reconcile.Result, error) {
	if wake.IsZero() {
		return reconcile.Result{}, nil
	}
	wait := wake.Sub(r.clock.Now())
	if wait <= 0 {
		// The time has come while the status was written. As a RequeueAfter, what
		// is not positive would be never.
		return r.Reconcile(ctx, request)
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}
