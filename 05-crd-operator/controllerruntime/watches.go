package controllerruntime

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// watch adds the controller to the manager: the informers, their handlers, the
// queue and the workers.
func watch(m manager.Manager, r *reconciler, o Options) error {
	var pass reconcile.Reconciler = r
	if o.Around != nil {
		pass = o.Around(r)
	}
	return builder.ControllerManagedBy(m).
		Named("controllerruntime").
		// Each At that passes the predicate gives a key: its namespace and name.
		For(&cnat.At{}, builder.WithPredicates(changed(r.memory))).
		// Each pod gives the key of the At that its owner reference names. By its
		// name, not its UID: when the pod of an At that is gone has gone too, that
		// concerns the At that came after it under the same name.
		Owns(&corev1.Pod{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: o.Workers,
			// A key that fails waits 100 ms, then twice as long each time, up to a
			// minute. The default is 5 ms, up to a quarter of an hour.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, time.Minute),
			NewQueue:    queue(o.Clock),
		}).
		Complete(pass)
}

// changed lets through an At that is new, or gone, or wants something else than
// before. The generation counts changes of the spec. A change of the status is
// most often our own, and never a reason to do anything.
//
// Every change of an At comes by here, so this is where the memory hears of it.
func changed(m *memory) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		m.catchUp(e.ObjectNew.(*cnat.At))
		// predicate.GenerationChangedPredicate is the first half of this. Another
		// UID is another At: the watch was down while one was deleted and the
		// other created, and both are of generation 1.
		return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || e.ObjectOld.GetUID() != e.ObjectNew.GetUID()
	}}
}

// queue makes the queue of stage 4, with a clock for its waiting keys. The default
// of the framework is another one. It waits by Go's monotonic clock, which a
// laptop stops when it sleeps. And it takes keys by priority; here first come is
// first served, which creates all pods that are due before the first status of
// one is written.
func queue(clock clock.WithTicker) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: name, Clock: clock})
	}
}
