package settings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
)

// Options say what the operator does in a manager.
type Options struct {
	// ConfigMap is the name of the ConfigMap in each namespace.
	ConfigMap string
	// Workers is how many namespaces to work on at the same time.
	Workers int
	// Around, if there is one, is put around each pass: to trace it, for example.
	// What a pass is given is a namespace.
	Around func(reconcile.TypedReconciler[string]) reconcile.TypedReconciler[string]
	// Repaired, if there is one, is told each time that a ConfigMap of the namespace
	// was restored because somebody else had changed it.
	Repaired func(namespace string)

	// unwatched leaves out the watch on what the operator makes. It is a mistake, for the
	// tests to show what comes of it.
	unwatched bool
}

// AddToScheme adds the types that the operator has to do with.
func AddToScheme(scheme *runtime.Scheme) error {
	return errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

// Cached is what the operator reads, as a manager wants to know it for its cache.
func Cached(configMap string) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		// Of all ConfigMaps of the cluster, the server sends those with our name.
		// A label would not do to select them: who takes it off would take
		// the ConfigMap out of our sight.
		&corev1.ConfigMap{}: {Field: fields.OneTermEqualSelector("metadata.name", configMap)},
		// Of layers, nobody here reads who set which field.
		&v1alpha1.SettingsLayer{}: {Transform: cache.TransformStripManagedFields()},
	}
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the types: %w", err)
	}
	return scheme, nil
}

// newManager puts the operator onto controller-runtime.
func newManager(config *rest.Config, scheme *runtime.Scheme, o options, log logr.Logger) (ctrl.Manager, error) {
	caches := cache.Options{ByObject: Cached(o.configMap)}
	if o.namespace != "" {
		caches.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	mgr, err := ctrl.New(config, ctrl.Options{
		Scheme:  scheme,
		Logger:  log,
		Cache:   caches,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	return mgr, Add(mgr, Options{ConfigMap: o.configMap, Workers: o.workers, unwatched: o.unwatched})
}

// Add adds the operator to a manager, which may have others. The manager has to
// know the types of AddToScheme, and to cache what Cached says. It decides in which
// namespaces.
//
// This is where it is said what leads to work, and what the work is.
func Add(mgr ctrl.Manager, o Options) error {
	b := builder.TypedControllerManagedBy[string](mgr).
		Named(program).
		Watches(&v1alpha1.SettingsLayer{}, enqueueNamespace, builder.WithPredicates(layerChanged)).
		WithOptions(controller.TypedOptions[string]{
			MaxConcurrentReconciles: o.Workers,
			ReconciliationTimeout:   time.Minute,
			// Each namespace that fails waits for itself, a minute at most.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Minute),
			// The queue of stage 4: first come, first served. The framework's own sorts
			// by priority, and may leave goroutines behind when it is shut down.
			UsePriorityQueue:   new(false),
			SkipNameValidation: new(true), // tests run several operators in one process
			LogConstructor: func(namespace *string) logr.Logger {
				if namespace == nil {
					return mgr.GetLogger()
				}
				return mgr.GetLogger().WithValues("namespace", *namespace)
			},
		})
	if !o.unwatched {
		watchOutput(b)
	}
	var pass reconcile.TypedReconciler[string] = &reconciler{
		client:    mgr.GetClient(),
		events:    mgr.GetEventRecorder(program),
		configMap: o.ConfigMap,
		repaired:  o.Repaired,
	}
	if o.Around != nil {
		pass = o.Around(pass)
	}
	return b.Complete(pass)
}

// enqueueNamespace turns an object into the key of the queue. All layers of a
// namespace, and its ConfigMap, are one piece of work; and no two workers ever
// do the same one.
var enqueueNamespace = handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []string {
	return []string{object.GetNamespace()}
})

// layerChanged lets through what can change the ConfigMap. A new status is of no
// interest, and a status does not change the generation. To delete a layer does,
// from the moment that somebody asks for it. And two layers of the same name,
// one after the other, may look like one that has changed.
var layerChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || e.ObjectOld.GetUID() != e.ObjectNew.GetUID()
}}
