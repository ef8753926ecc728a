package controllerruntime

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cluster"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// Options say where to work, and when.
type Options struct {
	// Namespace is where the Ats are. metav1.NamespaceAll, the default, is
	// everywhere.
	Namespace string
	// Workers is how many Ats to work on at the same time. The default is 8.
	Workers int
	// Clock tells when an At is due. The default is that of this machine; tests
	// bring one that they can turn.
	Clock clock.WithTicker
	// Around, if there is one, is put around each pass: to trace it, for example.
	Around func(reconcile.Reconciler) reconcile.Reconciler
}

const defaultWorkers = 8

func (o Options) withDefaults() Options {
	o.Workers = cmp.Or(o.Workers, defaultWorkers)
	if o.Clock == nil {
		o.Clock = wallclock.New()
	}
	return o
}

// Run works until the context ends, and waits for all that it started. It
// returns an error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the number of workers is restraint enough

	err := run(ctx, config, o)
	if ctx.Err() != nil {
		return nil // it was told to stop, and that is no error
	}
	return cluster.Explain(err, config.Host)
}

func run(ctx context.Context, config *rest.Config, o Options) error {
	m, err := newManager(ctx, config, o)
	if err != nil {
		return fmt.Errorf("creating a manager for %s: %w; repair the kubeconfig", config.Host, err)
	}
	if err := knock(ctx, config, m, o.Namespace); err != nil {
		return err
	}
	if err := Add(m, o); err != nil {
		return err
	}
	// Starts the caches, waits until they are full, starts the controller; when
	// the context has ended, waits for the workers, then for the caches.
	return m.Start(ctx)
}

// Add adds the operator to a manager, which may have others. The manager has to
// know the types of AddToScheme, and to cache what Cached says. It decides in which
// namespaces.
func Add(m manager.Manager, o Options) error {
	o = o.withDefaults()
	r := &reconciler{
		Client: m.GetClient(),
		server: m.GetAPIReader(),
		events: m.GetEventRecorder(lifecycle.Operator),
		clock:  o.Clock,
		memory: newMemory(),
	}
	if err := watch(m, r, o); err != nil {
		return fmt.Errorf("creating the controller: %w", err)
	}
	return nil
}

// newManager makes a manager that does what the operator needs, and no more. It
// makes no request.
func newManager(ctx context.Context, c *rest.Config, o Options) (manager.Manager, error) {
	types, err := scheme()
	if err != nil {
		return nil, err
	}
	return manager.New(c, manager.Options{
		Logger:         klog.FromContext(ctx),
		Scheme:         types,
		MapperProvider: mapper,
		Cache:          caches(o.Namespace),
		// What is in hand is finished, and each pass has its own deadline.
		GracefulShutdownTimeout: new(time.Duration(-1)),
		// Without this, a second operator in the same process is refused: the
		// names of controllers are those of their metrics, which are global.
		Controller: config.Controller{SkipNameValidation: new(true)},
		// No port is opened. By default, metrics are on 8080.
		Metrics: server.Options{BindAddress: "0"},
	})
}

// caches are the equivalent of two informer factories. A client of the manager
// reads from them.
func caches(namespace string) cache.Options {
	options := cache.Options{
		ByObject: Cached(),
		// By default, to read a type for the first time is to list and watch all
		// of it, from then on. Here that is an error.
		ReaderFailOnMissingInformer: true,
	}
	if namespace != "" { // an empty key would be all namespaces, but without the default
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return options
}

// Cached is what the operator reads, as a manager wants to know it for its cache.
func Cached() map[client.Object]cache.ByObject {
	// Who wrote which field is half of an object's size, and nobody asks here.
	strip := cache.TransformStripManagedFields()
	return map[client.Object]cache.ByObject{
		&cnat.At{}: {Transform: strip},
		// Other pods are never sent here. The price is not to see a foreign pod that
		// has the name of an At's pod; but the server does, and refuses to create
		// ours. That is early enough.
		&corev1.Pod{}: {Transform: strip, Label: labels.SelectorFromSet(labels.Set{lifecycle.ManagedBy: lifecycle.Operator})},
	}
}

// scheme says which kinds the Go types are. It is the equivalent of the clientset:
// one client for all types of the scheme.
func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, AddToScheme(s)
}

// AddToScheme adds the types that the operator has to do with.
func AddToScheme(s *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(cnat.AddToScheme, corev1.AddToScheme)
	return builder.AddToScheme(s)
}

// mapper says at which URLs the kinds are. A generated client has that in its
// code. By default, a manager asks the server, without a deadline, and some of it
// only when it first needs to know.
func mapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(cnat.SchemeGroupVersion.WithKind("At"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	return m, nil
}
