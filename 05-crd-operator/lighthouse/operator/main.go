// Operator keeps the lamps of each Lighthouse burning, and each Lighthouse in the Light List. It is
// the program in ../first with more lines:
//
//	main.go          the manager, its watches, and Reconcile
//	owned.go         what is in the cluster: a Deployment and a Service
//	registration.go  what is not: the registration, exactly one, and its end
//	office.go        calls to the office, and when they may be made
//	status.go        what a user is shown
//	versions.go      the versions of the API, and the webhook that converts between them
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/operator/api/v1alpha1"
)

func main() {
	office := flag.String("office", "http://office.light-list", "the `URL` of the Light List office")
	var hooks webhook.Options
	flag.StringVar(&hooks.CertDir, "certs", "", "convert between the versions of the API, with the tls.crt and tls.key of this `folder`")
	flag.StringVar(&hooks.Host, "listen", "", "the `address` on which the API server calls for that, such as 127.0.0.1; without one, it's any")
	flag.IntVar(&hooks.Port, "port", webhook.DefaultPort, "the `port` of that address")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: %q isn't a flag, and all flags after it would be ignored\n", flag.Arg(0))
		os.Exit(2)
	}
	ctrl.SetLogger(klog.Background()) // without one, the manager logs nothing
	if err := run(ctrl.SetupSignalHandler(), ctrl.GetConfigOrDie(), *office, hooks); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig *rest.Config, office string, hooks webhook.Options) error {
	types, err := newScheme()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(kubeconfig, ctrl.Options{
		Scheme:  types,
		Metrics: server.Options{BindAddress: "0"}, // no port; by default it is 8080
		Cache:   cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Transform: onlyToken}}},
		// Two operators may run at once, and in one process, too: the tests have both.
		Controller:    config.Controller{SkipNameValidation: new(true)},
		WebhookServer: webhook.NewServer(hooks),
	})
	if err != nil {
		return err
	}
	if hooks.CertDir != "" {
		if err := serveConversion(manager); err != nil {
			return err
		}
	}
	if err := manager.GetFieldIndexer().IndexField(ctx, &v1alpha1.Lighthouse{}, secretIndex, secretOf); err != nil {
		return err
	}
	r := &reconciler{manager.GetClient(), manager.GetAPIReader(), newOffice(office, clock.RealClock{})}
	// Whose changes bring the key of a Lighthouse to Reconcile.
	watched := ctrl.NewControllerManagedBy(manager).
		For(&v1alpha1.Lighthouse{}, builder.WithPredicates(wanted)).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.referrers)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 4, // a call that hangs holds up one of them
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](100*time.Millisecond, time.Minute),
		})
	if err := watched.Complete(r); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// wanted lets through what a user wants, which includes the deletion, and not the status that the
// operator has written itself.
var wanted = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || e.ObjectOld.GetUID() != e.ObjectNew.GetUID() ||
		!maps.Equal(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations())
}}

// What the operator may do, and nothing else, from which config/role.yaml is generated. It is tested with these rights.
// +kubebuilder:rbac:groups=coast.example.com,resources=lighthouses,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=coast.example.com,resources=lighthouses/status;lighthouses/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=list;watch

type reconciler struct {
	client.Client               // Get reads from a cache; what writes goes to the server
	live          client.Reader // reads from the server
	office        *office
}

// Reconcile makes the Deployment, the Service and the registration of one Lighthouse what its spec
// says, and reports how it is.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	log := ctrl.LoggerFrom(ctx)
	light := &v1alpha1.Lighthouse{}
	if err := r.Get(ctx, request.NamespacedName, light); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := light.DeepCopy()
	var deployment *appsv1.Deployment
	var again time.Duration
	var err error
	if light.DeletionTimestamp != nil {
		again, err = r.withdraw(ctx, light) // the garbage collector deletes what it owned
	} else if deployment, err = r.apply(ctx, light); err == nil {
		again, err = r.register(ctx, light)
	}
	again, err = r.office.remember(request.String(), again, err)
	if !isStale(err) {
		err = r.report(ctx, before, light, deployment, err)
	}
	var trouble *problem
	switch {
	case isStale(err):
		return ctrl.Result{RequeueAfter: time.Second}, nil // try again
	case errors.As(err, &trouble) && (trouble.stalled || trouble.again > 0):
		log.Info("waiting", "reason", trouble.reason, "why", trouble.message, "again", trouble.again)
		return ctrl.Result{RequeueAfter: trouble.again}, nil
	}
	return ctrl.Result{RequeueAfter: again}, err
}

// isStale reports whether the cache did not have what the server has. It is no error.
func isStale(err error) bool {
	return errors.Is(err, errStale) || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}
