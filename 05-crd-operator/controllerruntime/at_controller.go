package controllerruntime

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

const (
	// reconcileTimeout is how long one reconcile may take. A pod that is asked to end is
	// killed 30 s later, and the manager of stage 6 waits for 20.
	reconcileTimeout = 15 * time.Second
	// staleRetry is how long to wait for a cache that is stale.
	staleRetry = time.Second
)

// Reconciler runs the commands of Ats.
type Reconciler struct {
	client.Client               // reads from the caches, and writes to the server
	Live          client.Reader // reads from the server
	Events        events.EventRecorder
	Clock         clock.WithTicker
	Workers       int    // how many Ats to reconcile at the same time
	Image         string // what commands run in
}

// What the operator must be allowed to do, and no more. controller-gen writes
// config/rbac/controllerruntime.yaml from these markers.
//
// +kubebuilder:rbac:groups=cnat.programming-kubernetes.info,resources=ats,verbs=get;list;watch
// +kubebuilder:rbac:groups=cnat.programming-kubernetes.info,resources=ats/status,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=create;get;list;patch;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile takes one At one step further. It observes, lets package lifecycle
// decide, and makes at most one write. The event of that write brings the At back
// for the next step.
//
// The caller is the queue of stage 4: the framework has taken the key with Get, and
// calls Done when this returns. An error is logged, and is AddRateLimited.
// RequeueAfter is Forget and AddAfter. Neither is Forget.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	// When it stops, the framework still hands out all keys that wait, with a
	// context that has ended. A request that is cut off by its context may or may
	// not have reached the server. So no reconcile begins, and one that has begun
	// is finished.
	if ctx.Err() != nil {
		return ctrl.Result{}, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reconcileTimeout)
	defer cancel()

	o, err := r.observe(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	d := lifecycle.Decide(o)
	if d.CreatePod {
		// If the server refuses, a status says why.
		if d, err = r.createPod(ctx, o, d.Event); err != nil {
			return ctrl.Result{}, err
		}
	}
	if d.Status != nil {
		err = r.updateStatus(ctx, o.At, d)
	}
	if d.RemoveFinalizer {
		err = r.removeFinalizer(ctx, o.Pod)
	}
	switch {
	// The cache is stale, and will catch up. As an error this would be in the log,
	// and there is nothing to report.
	case lifecycle.IsConflict(err):
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	case err != nil:
		return ctrl.Result{}, client.IgnoreNotFound(err) // it is gone, and an event will say so
	case d.Wake.IsZero():
		return ctrl.Result{}, nil
	default:
		wait := max(d.Wake.Sub(r.Clock.Now()), 1) // what is not positive would be never
		return ctrl.Result{RequeueAfter: wait}, nil
	}
}

// observe reads the At and its pod from the caches, and from the server where a
// stale cache would do harm.
func (r *Reconciler) observe(ctx context.Context, key types.NamespacedName) (o lifecycle.Observed, err error) {
	o.Now = r.Clock.Now()
	if o.At, err = getAt(ctx, r.Client, key); err != nil {
		return o, err
	}
	podKey := types.NamespacedName{Namespace: key.Namespace, Name: lifecycle.PodName(key.Name)}
	if o.Pod, err = getPod(ctx, r.Client, podKey); err != nil {
		return o, err
	}
	if lifecycle.MayHaveLostPod(o) {
		if o.Pod, err = getPod(ctx, r.Live, podKey); err != nil {
			return o, err
		}
	}
	if lifecycle.NeedsLiveAt(o) {
		if o.At, err = getAt(ctx, r.Live, key); err != nil {
			return o, err
		}
	}
	if lifecycle.NeedsLivePod(o) {
		o.Pod, err = getPod(ctx, r.Live, podKey)
	}
	return o, err
}

// getAt returns the At, or nil if there is none.
func getAt(ctx context.Context, from client.Reader, key types.NamespacedName) (*cnat.At, error) {
	at := &cnat.At{}
	err := from.Get(ctx, key, at)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the At %s: %w", key, err)
	}
	return at, nil
}

// getPod returns the pod, or nil if there is none.
func getPod(ctx context.Context, from client.Reader, key types.NamespacedName) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := from.Get(ctx, key, pod)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the pod %s: %w", key, err)
	}
	return pod, nil
}

// createPod creates the pod of the At. If the server refuses, it returns what to do
// about that.
func (r *Reconciler) createPod(ctx context.Context, o lifecycle.Observed, event *lifecycle.Event) (lifecycle.Decision, error) {
	pod := lifecycle.DesiredPod(o.At, r.Image)
	err := r.Create(ctx, pod)
	switch {
	case err == nil:
		log.FromContext(ctx).Info("created the pod", "pod", pod.Name)
		r.record(o.At, event)
		return lifecycle.Decision{}, nil // the event of the pod brings the At back
	case apierrors.IsAlreadyExists(err):
		existing, err := getPod(ctx, r.Live, client.ObjectKeyFromObject(pod))
		if err != nil {
			return lifecycle.Decision{}, err
		}
		return lifecycle.Exists(o, existing), nil
	}
	if d, refused := lifecycle.Refused(o, err); refused {
		log.FromContext(ctx).V(1).Info("the server refuses the pod", "why", err.Error())
		return d, nil
	}
	return lifecycle.Decision{}, fmt.Errorf("creating the pod %s/%s: %w", pod.Namespace, pod.Name, err)
}

// updateStatus writes the status, and the event about it. The resource version goes
// with it: if the At has changed since it was observed, the server refuses.
func (r *Reconciler) updateStatus(ctx context.Context, at *cnat.At, d lifecycle.Decision) error {
	at.Status = *d.Status // a client of the manager returns copies
	if err := r.Status().Update(ctx, at); err != nil {
		return fmt.Errorf("writing the status of the At %s/%s: %w", at.Namespace, at.Name, err)
	}
	log.FromContext(ctx).Info("wrote the status", "phase", at.Status.Phase)
	r.record(at, d.Event)
	return nil
}

// removeFinalizer lets the pod go.
func (r *Reconciler) removeFinalizer(ctx context.Context, pod *corev1.Pod) error {
	if err := r.Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, lifecycle.FinalizerPatch(pod))); err != nil {
		return fmt.Errorf("removing the finalizer of the pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// record writes an event in the background. It may be lost, the status is not.
func (r *Reconciler) record(at *cnat.At, event *lifecycle.Event) {
	if event != nil {
		r.Events.Eventf(at, nil, event.Type, event.Reason, "RunCommand", "%s", event.Note)
	}
}

// SetupWithManager adds the controller to the manager: informers, their handlers,
// the queue and the workers.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.ControllerManagedBy(mgr).Complete(r)
}

// ControllerManagedBy returns the controller without its reconciler, for a program that puts
// middleware around that.
func (r *Reconciler) ControllerManagedBy(mgr ctrl.Manager) *ctrl.Builder {
	return ctrl.NewControllerManagedBy(mgr).
		Named("controllerruntime").
		For(&cnat.At{}, builder.WithPredicates(nextStep)).
		// Not Owns: that goes by the owner reference. See lifecycle.AtOf.
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(atOfPod)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: r.Workers,
			// A key that fails waits 100 ms, then twice as long each time, up to a
			// minute. The default is 5 ms, up to a quarter of an hour.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](100*time.Millisecond, time.Minute),
			NewQueue:    r.newQueue,
		})
}

// nextStep lets through an At that is new, or gone, or has another step to take:
// its spec has changed, which its generation counts, or its phase. Another UID is
// another At; the watch was down while one was deleted and the other created.
var nextStep = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*cnat.At), e.ObjectNew.(*cnat.At)
	return before.Generation != after.Generation || before.Status.Phase != after.Status.Phase || before.UID != after.UID
}}

// atOfPod returns the key of the At that the pod may be of.
func atOfPod(_ context.Context, pod client.Object) []ctrl.Request {
	name, ok := lifecycle.AtOf(pod)
	if !ok {
		return nil
	}
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}

// newQueue makes the queue of stage 4, with a clock: see package wallclock. The
// default of the framework waits by Go's monotonic clock, which a laptop stops when
// it sleeps.
func (r *Reconciler) newQueue(name string, limiter workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[ctrl.Request]{Name: name, Clock: r.Clock})
}
