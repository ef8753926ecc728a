package settings

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// reconciler makes true what the layers of a namespace say.
type reconciler struct {
	client    client.Client // reads come from the cache
	events    events.EventRecorder
	configMap string // its name
	repaired  func(namespace string)
}

// Reconcile looks, decides, acts and tells. What it is given is a namespace:
// whatever changed in it, a layer or the ConfigMap, the work is the same.
func (r *reconciler) Reconcile(ctx context.Context, namespace string) (reconcile.Result, error) {
	o, err := r.observe(ctx, namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	d := decide(o, r.configMap)

	err = r.act(ctx, o, d)
	switch {
	case err == nil:
		r.report(ctx, namespace, d)
	// The layers will be gone as well.
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return reconcile.Result{}, nil
	case isRefusal(err):
		d = decision{action: refuse, refuse: omission{v1alpha1.Blocked, fmt.Sprintf("the server refuses the ConfigMap %s: %v", r.configMap, err)}}
	// Also if somebody else was faster. The cache will have heard of it by the next
	// try, and if not, the rate limiter makes each pause longer than the last.
	default:
		return reconcile.Result{}, err
	}

	// A refusal is tried again: a quota may be raised, a role be granted.
	return reconcile.Result{}, errors.Join(err, r.tell(ctx, o, d))
}

// report tells what was done.
func (r *reconciler) report(ctx context.Context, namespace string, d decision) {
	if d.action == leave {
		return
	}
	log.FromContext(ctx).Info(string(d.action), "configMap", r.configMap, "why", d.why, "drift", d.drift)
	if d.drift && r.repaired != nil {
		r.repaired(namespace)
	}
}

// isRefusal reports whether the server has understood the request and does not
// want it, which the layers should know.
func isRefusal(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}
