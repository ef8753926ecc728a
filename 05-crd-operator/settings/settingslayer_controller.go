// Package settings is an operator that merges SettingsLayers into a ConfigMap, and restores
// that, whatever changes it. All layers of a namespace become one ConfigMap of that namespace.
//
//	layers ──watch──┐                                  ┌──apply──▶ ConfigMap
//	                ├──▶ queue ──▶ Reconcile: merge ───┤
//	ConfigMap ──────┘                                  └──status─▶ layers
//	          watch
//
// The input is one kind and the output another, and the operator watches both. One that
// watched only its input would pass every test of the happy path: it would create the
// ConfigMap and follow the layers. But it would not see that somebody edits or deletes what
// it has made.
//
//	main.go                       flags, the scheme, the manager with its caches
//	settingslayer_controller.go   what is watched; observe, decide and act
//	merge.go                      which layer wins which key
//	configmap.go                  the desired ConfigMap, how the present one differs, and the writes
//	status.go                     what the layers show to users
package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// Reconciler merges the SettingsLayers of each namespace into its ConfigMap.
type Reconciler struct {
	client.Client // reads from the cache
	// APIReader reads from the API server.
	APIReader client.Reader
	Recorder  events.EventRecorder
	// Workers is how many namespaces to reconcile at the same time.
	Workers int
}

// SetupWithManager adds the controller to a manager, which has the types of AddToScheme and
// caches what Cached returns.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.ControllerManagedBy(mgr).Complete(r)
}

// ControllerManagedBy returns the controller without its reconciler, for a program that puts
// middleware around that.
func (r *Reconciler) ControllerManagedBy(mgr ctrl.Manager) *ctrl.Builder {
	enqueue := handler.EnqueueRequestsFromMapFunc(requestFor)
	return ctrl.NewControllerManagedBy(mgr).
		Named(program).
		Watches(&v1alpha1.SettingsLayer{}, enqueue, builder.WithPredicates(layerChanged)).
		Watches(&corev1.ConfigMap{}, enqueue).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: r.Workers,
			ReconciliationTimeout:   time.Minute,
			// Each namespace that fails has a backoff of its own, of a minute at most.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](100*time.Millisecond, time.Minute),
		})
}

// requestFor maps an object to the key of the queue: all layers of a namespace, and its
// ConfigMap, are one key, and no two workers ever have the same key.
func requestFor(_ context.Context, object client.Object) []ctrl.Request {
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: ConfigMap}}}
}

// layerChanged lets through what can change the ConfigMap. A new status cannot, and does not
// change the generation; the deletion of a layer does, as soon as it is requested. And an
// update may be two layers of one name, one after the other.
var layerChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || e.ObjectOld.GetUID() != e.ObjectNew.GetUID()
}}

// All ConfigMaps of the operator have one name, so it needs no right to any other. The right
// to create has a name, too, because an apply, unlike a create, has it in its URL.
//
// +kubebuilder:rbac:groups=settings.example.com,resources=settingslayers,verbs=list;watch
// +kubebuilder:rbac:groups=settings.example.com,resources=settingslayers/status,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=settings,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile makes one ConfigMap what the layers of its namespace say. It does the same
// whatever has changed, a layer or the ConfigMap.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o, err := r.observe(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	d := decide(o)
	if d.needsLiveRead {
		// The cache may be stale: it may lack a layer that there is, or have one that is
		// being deleted. So the API server confirms the layers first.
		if err := o.listLayers(ctx, r.APIReader); err != nil {
			return ctrl.Result{}, err
		}
		d = decide(o)
	}

	err = r.act(ctx, o, d)
	switch {
	case err == nil:
		report(ctx, d)
	// The layers will be gone as well.
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return ctrl.Result{}, nil
	case isRefusal(err):
		d = decision{action: refuse, refuse: omission{v1alpha1.Blocked, fmt.Sprintf("the server refuses the ConfigMap %s: %v", req.Name, err)}}
	// A conflict as well: the rate limiter makes each pause longer than the last, until
	// the cache has seen what was in the way.
	default:
		return ctrl.Result{}, err
	}
	// A refusal is tried again: a quota may be raised, a role be granted.
	return ctrl.Result{}, errors.Join(err, r.updateStatuses(ctx, o, d))
}

// isRefusal reports whether the server has understood a request and does not want it, which
// the layers should show.
func isRefusal(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// observed is what a decision depends on.
type observed struct {
	key     types.NamespacedName      // of the ConfigMap
	layers  []*v1alpha1.SettingsLayer // that count
	leaving []*v1alpha1.SettingsLayer // that are being deleted, and no longer count
	have    *corev1.ConfigMap         // nil if there is none
}

// observe reads from the cache.
func (r *Reconciler) observe(ctx context.Context, key types.NamespacedName) (observed, error) {
	o := observed{key: key, have: &corev1.ConfigMap{}}
	if err := o.listLayers(ctx, r.Client); err != nil {
		return o, err
	}
	err := r.Get(ctx, key, o.have)
	if apierrors.IsNotFound(err) {
		o.have, err = nil, nil
	}
	if err != nil {
		return o, fmt.Errorf("reading the ConfigMap %s: %w", key, err)
	}
	return o, nil
}

func (o *observed) listLayers(ctx context.Context, from client.Reader) error {
	var list v1alpha1.SettingsLayerList
	if err := from.List(ctx, &list, client.InNamespace(o.key.Namespace)); err != nil {
		return fmt.Errorf("listing the layers of %s: %w", o.key.Namespace, err)
	}
	o.layers, o.leaving = nil, nil
	for i := range list.Items {
		if layer := &list.Items[i]; layer.DeletionTimestamp == nil {
			o.layers = append(o.layers, layer)
		} else {
			o.leaving = append(o.leaving, layer)
		}
	}
	return nil
}

// action is what to do about a ConfigMap, as it is logged.
type action string

const (
	leave   action = "leave"   // nothing
	refuse  action = "refuse"  // nothing, and the layers show why
	apply   action = "apply"   // make it what it should be
	replace action = "replace" // delete and create it, because it cannot be changed
	remove  action = "delete"
)

// decision is an action, and what it needs.
type decision struct {
	action action
	delta                                        // why, which the log shows
	drift  bool                                  // whether somebody else is the cause
	want   *corev1ac.ConfigMapApplyConfiguration // to apply, and to replace
	merged merged
	refuse omission // for the status of all layers
}

// decide compares what is with what should be. It makes no request. The order of the cases
// matters.
func decide(o observed) decision {
	switch {
	// A user who deletes the last layer wants the ConfigMap to go.
	case len(o.layers) == 0 && len(o.leaving) == 0:
		if o.have != nil && o.have.DeletionTimestamp == nil && marked(o.have) {
			return decision{action: remove, delta: delta{why: "there is no layer left", needsLiveRead: true}}
		}
		return decision{action: leave}

	// Unless with --cascade=orphan: then the garbage collector takes the owners off the
	// ConfigMap before the last layer is gone, and it stays.
	case len(o.layers) == 0:
		return decision{action: leave}

	case o.have != nil && !isOurs(o):
		return decision{action: refuse, delta: delta{why: "it was not made from layers"}, refuse: omission{v1alpha1.NameTaken,
			fmt.Sprintf("the ConfigMap %s was there before any layer, and is left alone; delete or rename it, and the layers take effect", o.key.Name)}}

	case o.have != nil && o.have.DeletionTimestamp != nil:
		return decision{action: refuse, delta: delta{why: "it is being deleted"}, refuse: omission{v1alpha1.Blocked,
			fmt.Sprintf("the ConfigMap %s is being deleted, and somebody's finalizer keeps it; remove that from metadata.finalizers, and there will be a new one", o.key.Name)}}
	}

	d := decision{action: apply, merged: merge(o.layers)}
	d.want = desired(o.key, o.layers, d.merged.data)
	d.delta = compare(o.have, d.want)
	d.drift = d.byOthers && isCurrent(o)
	switch {
	case d.why == "":
		d.action = leave
	case d.immutable:
		d.action = replace
	}
	return d
}

// isOurs reports whether a ConfigMap was made from layers, and not by somebody else, whose
// data must not be lost. It is ours if it has an owner that is a layer. And it is ours if the
// status of a layer has its name: then somebody has replaced it, which is undone like any
// other change.
func isOurs(o observed) bool {
	return marked(o.have) || slices.ContainsFunc(o.layers, func(layer *v1alpha1.SettingsLayer) bool {
		return layer.Status.ConfigMap == o.key.Name
	})
}

// isCurrent reports whether the status of every layer is. If it is not, a layer is new or has
// changed, and that may be why the ConfigMap differs.
func isCurrent(o observed) bool {
	return !slices.ContainsFunc(o.layers, func(layer *v1alpha1.SettingsLayer) bool {
		return layer.Status.ConfigMap != o.key.Name || layer.Status.ObservedGeneration != layer.Generation
	})
}

// report logs what was done. It names keys, and never a value.
func report(ctx context.Context, d decision) {
	if d.action == leave {
		return
	}
	ctrl.LoggerFrom(ctx).Info(string(d.action), "drift", d.drift, "why", d.why)
	if d.drift {
		driftRepairs.Inc()
	}
}
