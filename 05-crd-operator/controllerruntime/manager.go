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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// Options say where to work, and when.
type Options struct {
	// Namespace is where the Ats are. metav1.NamespaceAll, the default, is
	// everywhere.
	Namespace string
	// Workers is how many Ats to reconcile at the same time. The default is 8.
	Workers int
	// Image is what commands run in. The default is lifecycle.DefaultImage.
	Image string
	// SkipNameValidation allows several operators in one process, which share the metrics
	// of their name. Tests want that.
	SkipNameValidation bool
	// ReadYourWrites makes a read wait until the cache shows what the operator itself has
	// written. It's off: own-writes.md says why.
	ReadYourWrites bool
	// Clock decides when an At is due. The default is that of this machine; tests
	// bring one that they can set.
	Clock clock.WithTicker
}

// Run works until the context ends, and waits for all that it started. It
// returns an error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	err := run(ctx, config, o)
	if ctx.Err() != nil {
		return nil // it was stopped, and that is no error
	}
	return cli.Explain(err, config.Host)
}

func run(ctx context.Context, config *rest.Config, o Options) error {
	mgr, err := newManager(ctx, config, o)
	if err != nil {
		return fmt.Errorf("creating a manager for %s: %w; repair the kubeconfig", config.Host, err)
	}
	if err := checkAccess(ctx, config, mgr, o.Namespace); err != nil {
		return err
	}
	if err := NewReconciler(mgr, o).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("creating the controller: %w", err)
	}
	// Starts the caches, waits until they are full, starts the controller; when
	// the context has ended, waits for the workers, then for the caches.
	return mgr.Start(ctx)
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

// newManager makes a manager that does what the operator needs, and no more. It
// makes no request.
func newManager(ctx context.Context, c *rest.Config, o Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	// The equivalent of two informer factories. By default, to read a type for the
	// first time is to list and watch all of it, from then on. Here it is an error.
	caches := cache.Options{ByObject: Cached(), ReaderFailOnMissingInformer: true}
	if o.Namespace != "" { // an empty key would be all namespaces, but without the default
		caches.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	return ctrl.NewManager(c, ctrl.Options{
		Logger:         klog.FromContext(ctx),
		Scheme:         scheme,
		MapperProvider: newMapper,
		Cache:          caches,
		Client:         client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &o.ReadYourWrites}},
		// A reconcile that has begun is finished, and each has its own deadline.
		GracefulShutdownTimeout: new(time.Duration(-1)),
		// Unless this is set, a second operator in the same process is refused: the
		// names of controllers are those of their metrics, which are global.
		Controller: config.Controller{SkipNameValidation: &o.SkipNameValidation},
		// No port is opened. By default, metrics are on 8080.
		Metrics: server.Options{BindAddress: "0"},
	})
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

// AddToScheme adds the types that the operator reads and writes. A scheme says
// which kinds the Go types are: one client is enough for all of them.
func AddToScheme(s *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(cnat.AddToScheme, corev1.AddToScheme)
	return builder.AddToScheme(s)
}

// newMapper says at which URLs the kinds are. A generated client has that in its
// code. By default, a manager discovers it from the server, without a deadline, and
// some of it only when it is first needed.
func newMapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(cnat.SchemeGroupVersion.WithKind("At"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	return m, nil
}
