// Package operator runs PostgresClusters.
//
//	          ┌──▶ observe: the cluster, pods, disks, the Lease, each member's /status
//	pods ─────┤         │
//	clusters ─┤    plan.Cluster: one action at most
//	a timer ──┘         │
//	                    └──▶ act, and describe in the status what people see
//
//	postgrescluster_controller.go   what is watched; observe, decide, act
//	observe.go                      what there is
//	act.go                          each action, as requests
//
//	foreign.go                      whose an object is, whatever its name and its label
//	ask.go                          what the agents say
//	tracker.go                      since when: the operator's clock
//	outdated.go                     which pods would be made otherwise now
//	rest.go                         how soon a cluster is looked at again, and at what cost
//	events.go                       what people learn
//	pod.go                          a member: its pod
//	disk.go                         its disk, which grows with the spec
//	backup.go                       the disk of the backups, and the pod that makes one
//	shared.go                       what members share: rights, Services, who may reach them, a budget
//	secrets.go                      their passwords and certificates
//	metrics.go                      the figures of all clusters
//	manager.go                      caches, leader election, and what others may ask
//	command.go                      the command line
package operator

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// finalizer keeps a cluster until its members are gone, and a pod until the operator has seen
// its end.
const finalizer = postgres.GroupName + "/operator"

// reconcileTimeout is how long one reconcile may take.
const reconcileTimeout = 15 * time.Second

// Reconciler runs PostgresClusters.
type Reconciler struct {
	client.Client // reads from the cache
	// Live reads from the API server.
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	Options

	agents   *http.Client
	trackers sync.Map             // *tracker, by the names of clusters
	lags     sync.Map             // how much of its primary's log each member lacks, by the names of clusters
	backoff  *flowcontrol.Backoff // of pods that are made again
}

// Options say where to work, and with what.
type Options struct {
	Namespace   string             // of the clusters; all, if it is empty
	Image       string             // of the members
	Version     string             // the major version of PostgreSQL in it
	ServiceType corev1.ServiceType // of the Services in front of the members
	// OperatorNetwork is a CIDR that the operator comes from, if it is in no pod.
	OperatorNetwork string

	LeaderNamespace string // of the Lease by which one of several operators works; if empty, all do
	MetricsAddress  string // host:port of /metrics; none, if it is empty
	HealthAddress   string // host:port of /healthz and /readyz; none, if it is empty

	// SkipNameValidation allows several operators in one process, which share the metrics of
	// their name. Tests want that.
	SkipNameValidation bool
}

// NewReconciler returns a Reconciler for a manager that knows the types of AddToScheme.
func NewReconciler(mgr ctrl.Manager, o Options) *Reconciler {
	return &Reconciler{
		Client:  mgr.GetClient(),
		Live:    mgr.GetAPIReader(),
		Events:  mgr.GetEventRecorder(program),
		Clock:   clock.RealClock{},
		Options: o,
		agents:  &http.Client{Timeout: statusTimeout, Transport: &http.Transport{DisableKeepAlives: true}},
		backoff: flowcontrol.NewBackOff(250*time.Millisecond, 10*time.Second),
	}
}

// SetupWithManager adds the controller to a manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).
		Named(program).
		For(&postgres.PostgresCluster{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 8, // most of the time they wait for members
			// The default waits for minutes after some errors, and a failover cannot.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, 2*time.Second),
		})
	for object := range owned() {
		b.Owns(object)
	}
	return b.Complete(r)
}

// +kubebuilder:rbac:groups=postgres.programming-kubernetes.info,resources=postgresclusters,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=postgres.programming-kubernetes.info,resources=postgresclusters/status,verbs=update
// +kubebuilder:rbac:groups=postgres.programming-kubernetes.info,resources=postgresclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create;delete
// +kubebuilder:rbac:groups="",resources=services;serviceaccounts;configmaps,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile does one action at most, and comes back soon: what members say is no event of
// Kubernetes.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, reconcileTimeout)
	defer cancel()
	if o, resting := r.atRest(ctx, request.NamespacedName); resting {
		r.restoreShared(ctx, o) // disks grow after the next live read
		return reconcile.Result{RequeueAfter: whileSettled}, nil
	}
	o, err := r.observe(ctx, request.NamespacedName)
	switch {
	case apierrors.IsNotFound(err):
		r.trackers.Delete(request.NamespacedName)
		r.lags.Delete(request.NamespacedName)
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	deleting := o.Cluster.DeletionTimestamp != nil
	switch {
	case deleting && !controllerutil.ContainsFinalizer(o.Cluster, finalizer):
		return reconcile.Result{}, nil // it waits for somebody else
	case !deleting && controllerutil.AddFinalizer(o.Cluster, finalizer):
		if err := r.Update(ctx, o.Cluster); err != nil {
			return r.retry(ctx, o, plan.Decision{}, err)
		}
	}
	if !deleting && !o.Cluster.Spec.Paused {
		r.relabel(ctx, o)
	}
	d := plan.Cluster(o.Observed)
	if err := errors.Join(r.act(ctx, o, d), r.describe(ctx, o, d)); err != nil {
		return r.retry(ctx, o, d, err)
	}
	tracker := r.trackerOf(request.NamespacedName)
	if rests(o.Observed, d) {
		tracker.remember(o.Observed)
	}
	if d.Updates != "" {
		tracker.updates[d.Updates].count++
	}
	if d.Action == plan.None && !deleting {
		r.restoreShared(ctx, o)
		r.growDisks(ctx, o)
	}
	return reconcile.Result{RequeueAfter: pause(o.Observed, d)}, nil
}

// retry tells an error from a refusal: something has changed since it was observed, so it is
// observed again.
func (r *Reconciler) retry(ctx context.Context, o observation, d plan.Decision, err error) (reconcile.Result, error) {
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil
	}
	r.warn(ctx, o, d.Action, err)
	return reconcile.Result{}, err
}
