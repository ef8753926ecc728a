package settings

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllers "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/hacking-a-controller/05-crd-operator/access"
	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cli"
)

const (
	program        = "settings" // under this name the operator does all that it does
	defaultWorkers = 4
)

// ConfigMap is the name of the ConfigMap in each namespace. The role allows no other.
const ConfigMap = "settings"

// Options say where to work.
type Options struct {
	Namespace string // of the layers; the default is everywhere
	Workers   int    // how many namespaces to reconcile at the same time
	// SkipNameValidation allows several operators in one process, which share the metrics
	// of their name. Tests want that.
	SkipNameValidation bool
}

// Main is the program.
func Main() {
	var cluster cli.OperatorFlags
	var o Options
	flags := flag.NewFlagSet(os.Args[0], flag.ExitOnError) // the framework has put one into the default set
	cluster.AddFlags(flags, defaultWorkers, "namespaces")
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

// Run works until the context ends. It returns an error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	manager, err := newManager(ctx, config, o)
	if err == nil {
		err = NewReconciler(manager, o).SetupWithManager(manager)
	}
	if err == nil {
		err = manager.Start(ctx)
	}
	if ctx.Err() != nil {
		return nil // it was stopped, and that is no error
	}
	return cli.Explain(err, config.Host)
}

func newManager(ctx context.Context, config *rest.Config, o Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the types: %w", err)
	}
	if err := access.Check(ctx, config, o.Namespace,
		access.Read{GroupVersionResource: v1alpha1.SchemeGroupVersion.WithResource("settingslayers")},
		access.Read{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("configmaps"), Fields: onlyOurs.String()},
	); err != nil {
		return nil, err
	}
	caches := cache.Options{ByObject: Cached()}
	if o.Namespace != "" {
		caches.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:         scheme,
		Logger:         klog.FromContext(ctx),
		MapperProvider: access.Mapper(scheme),
		Cache:          caches,
		Controller:     controllers.Controller{SkipNameValidation: &o.SkipNameValidation},
		Metrics:        server.Options{BindAddress: "0"},
	})
}

// AddToScheme adds the types that the operator reads and writes.
func AddToScheme(scheme *runtime.Scheme) error {
	return errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

// onlyOurs selects not by a label: a ConfigMap that has lost it would no longer be in the cache.
var onlyOurs = fields.OneTermEqualSelector("metadata.name", ConfigMap)

// Cached is what the manager of the operator is to cache.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}:       {Field: onlyOurs},
		&v1alpha1.SettingsLayer{}: {Transform: cache.TransformStripManagedFields()},
	}
}

// NewReconciler returns a Reconciler for a manager, which may have others. The manager
// has to know the types of AddToScheme, and to cache what Cached returns.
func NewReconciler(mgr ctrl.Manager, o Options) *Reconciler {
	return &Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(program),
		Workers:   cmp.Or(o.Workers, defaultWorkers),
	}
}
