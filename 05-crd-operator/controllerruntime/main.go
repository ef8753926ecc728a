// Package controllerruntime is the operator for Ats on controller-runtime, the framework beneath
// Kubebuilder and the Operator SDK. It is the program in first/ with more lines:
//
//	main.go            flags, the scheme, the manager with its caches
//	at_controller.go   the Reconciler: it observes, lets lifecycle decide, and acts
//
// Package clientgo is the same operator by hand. A manager owns the parts that every operator
// has, and gives them out:
//
//	here                        by hand
//	Manager.Start               start informers, wait for caches, run workers, wait
//	Manager.GetClient           a lister for each type, and a client to write
//	Manager.GetAPIReader        a client that reads from the server
//	Manager.GetEventRecorder    a broadcaster, with its start and its end
//	builder.For, Watches        informers, handlers, keys
//	predicates                  the conditions in those handlers
//	Reconcile and its Result    the loop: Get, Done, Forget, AddRateLimited, AddAfter
//
// What a framework does, it also hides. Four things of that matter here: a read may start a
// watch, and a kind may be looked up without a deadline (main.go); the queue has another clock
// by default, and the context of a reconcile ends when the program is to stop (at_controller.go).
package controllerruntime

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllers "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/hacking-a-controller/05-crd-operator/access"
	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

const defaultWorkers = 8

// Options say where to work, and when.
type Options struct {
	Namespace string // of the Ats; the default is everywhere
	Workers   int    // how many Ats to reconcile at the same time
	Image     string // what commands run in
	// ReadYourWrites makes a read wait until the cache shows what the operator itself has
	// written. It's off: own-writes.md says why.
	ReadYourWrites bool
	// Clock decides when an At is due. The default is that of this machine; tests
	// bring one that they can set.
	Clock clock.WithTicker
	// SkipNameValidation allows several operators in one process, which share the metrics
	// of their name. Tests want that.
	SkipNameValidation bool
}

// Main is the program.
func Main() {
	var cluster cli.OperatorFlags
	var o Options
	flags := flag.NewFlagSet(os.Args[0], flag.ExitOnError) // the framework has put one into the default set
	cluster.AddFlags(flags, defaultWorkers, "Ats")
	flags.StringVar(&o.Image, "command-image", lifecycle.DefaultImage, "the `image` that commands run in, with a sh")
	_ = flags.Parse(os.Args[1:]) // an error ends the program

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)      // a second Ctrl-C ends the program at once
	ctrl.SetLogger(klog.Background()) // without one, the manager logs nothing
	config, namespace, err := cluster.Load()
	if err == nil {
		o.Namespace, o.Workers = namespace, cluster.Workers
		err = Run(ctx, config, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// Run works until the context ends, and waits for all that it started. It returns an error only
// if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	err := run(ctx, config, o)
	if ctx.Err() != nil {
		return nil // it was stopped, and that is no error
	}
	return cli.Explain(err, config.Host)
}

func run(ctx context.Context, config *rest.Config, o Options) error {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return err
	}
	// The equivalent of two informer factories. By default, to read a type for the
	// first time is to list and watch all of it, from then on. Here it is an error.
	caches := cache.Options{ByObject: Cached(), ReaderFailOnMissingInformer: true}
	if o.Namespace != "" { // an empty key would be all namespaces, but without the default
		caches.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Logger:         klog.FromContext(ctx),
		Scheme:         scheme,
		MapperProvider: access.Mapper(scheme),
		Cache:          caches,
		Client:         client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &o.ReadYourWrites}},
		// A reconcile that has begun is finished, and each has its own deadline.
		GracefulShutdownTimeout: new(time.Duration(-1)),
		// Unless this is set, a second operator in the same process is refused: the
		// names of controllers are those of their metrics, which are global.
		Controller: controllers.Controller{SkipNameValidation: &o.SkipNameValidation},
		// No port is opened. By default, metrics are on 8080.
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return fmt.Errorf("creating a manager for %s: %w; repair the kubeconfig", config.Host, err)
	}
	if err := access.Check(ctx, config, o.Namespace,
		access.Read{GroupVersionResource: cnat.SchemeGroupVersion.WithResource("ats")},
		access.Read{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("pods"), Labels: lifecycle.PodSelector},
	); err != nil {
		return err
	}
	if err := NewReconciler(manager, o).SetupWithManager(manager); err != nil {
		return fmt.Errorf("creating the controller: %w", err)
	}
	return manager.Start(ctx) // the informers, then the workers; returns when they have ended
}

// AddToScheme adds the types that the operator reads and writes. A scheme says
// which kinds the Go types are: one client is enough for all of them.
func AddToScheme(s *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(cnat.AddToScheme, corev1.AddToScheme)
	return builder.AddToScheme(s)
}

// Cached is what the operator reads, as a manager wants to know it for its cache.
func Cached() map[client.Object]cache.ByObject {
	// Who wrote which field is half of an object's size, and is not read here.
	strip := cache.TransformStripManagedFields()
	return map[client.Object]cache.ByObject{
		&cnat.At{}: {Transform: strip},
		// Other pods are never sent here. A foreign pod that has the name of an At's
		// pod is not in the cache; the server refuses to create ours, which is early
		// enough.
		&corev1.Pod{}: {Transform: strip, Label: labels.SelectorFromSet(labels.Set{lifecycle.ManagedBy: lifecycle.Operator})},
	}
}

// NewReconciler returns a Reconciler for a manager, which may have others. The
// manager has to know the types of AddToScheme, and to cache what Cached says. It
// decides in which namespaces.
func NewReconciler(mgr ctrl.Manager, o Options) *Reconciler {
	if o.Clock == nil {
		o.Clock = wallclock.New()
	}
	return &Reconciler{
		Client:  mgr.GetClient(),
		Live:    mgr.GetAPIReader(),
		Events:  mgr.GetEventRecorder(lifecycle.Operator),
		Clock:   o.Clock,
		Workers: cmp.Or(o.Workers, defaultWorkers),
		Image:   cmp.Or(o.Image, lifecycle.DefaultImage),
	}
}
