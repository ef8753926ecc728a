package settings

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cli"
)

const program = "settings" // under this name the operator does all that it does

// Command returns the program.
func Command() *cobra.Command { return newCommand(Options{}) }

// newCommand returns the program with options that have no flag.
func newCommand(o Options) *cobra.Command {
	var (
		config        cli.ConfigFlags
		allNamespaces bool
	)
	command := &cobra.Command{
		Use:   program,
		Short: "Merge the SettingsLayers of a namespace into a ConfigMap, and keep it so",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cli.UsageError(command, err)
			}
			config, namespace, err := config.Load()
			if err != nil {
				return err
			}
			o.Namespace = namespace
			if allNamespaces {
				o.Namespace = metav1.NamespaceAll
			}
			ctrl.SetLogger(klog.FromContext(command.Context()))
			return Run(command.Context(), config, o)
		},
	}
	flags := command.Flags()
	config.AddFlags(flags)
	config.AddNamespaceFlag(flags)
	flags.BoolVarP(&allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVar(&o.ConfigMap, "config-map", "settings", "the `name` of the ConfigMap in each namespace; the role allows only settings")
	flags.IntVar(&o.Workers, "workers", 4, "how `many` namespaces to reconcile at the same time")
	return command
}

// Options say where to work, and on what.
type Options struct {
	Namespace string // of the layers; metav1.NamespaceAll is everywhere
	ConfigMap string // its name in each namespace
	Workers   int    // how many namespaces to reconcile at the same time
	// SkipNameValidation allows several operators in one process, which share the metrics
	// of their name. Tests want that.
	SkipNameValidation bool
}

func (o Options) validate() error {
	if problems := validation.IsDNS1123Subdomain(o.ConfigMap); len(problems) > 0 {
		rule, _, _ := strings.Cut(problems[0], " (e.g.") // what follows is a regular expression
		return fmt.Errorf("--config-map %q is not the name of a ConfigMap: %s", o.ConfigMap, rule)
	}
	if o.Workers < 1 {
		return fmt.Errorf("--workers is %d, it must be at least 1", o.Workers)
	}
	return nil
}

// Run works until the context ends. It returns an error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	mgr, err := newManager(ctx, config, o)
	if err == nil {
		err = NewReconciler(mgr, o).SetupWithManager(mgr)
	}
	if err == nil {
		err = mgr.Start(ctx)
	}
	if ctx.Err() != nil {
		return nil // it was stopped, and that is no error
	}
	return cli.Explain(err, config.Host)
}

// NewReconciler returns a Reconciler for a manager, which may have others. The manager
// has to know the types of AddToScheme, and to cache what Cached returns.
func NewReconciler(mgr ctrl.Manager, o Options) *Reconciler {
	return &Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(program),
		ConfigMap: o.ConfigMap,
		Workers:   o.Workers,
	}
}

func newManager(ctx context.Context, config *rest.Config, o Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the types: %w", err)
	}
	if err := checkAccess(ctx, config, scheme, o); err != nil {
		return nil, err
	}
	caches := cache.Options{ByObject: Cached(o.ConfigMap)}
	if o.Namespace != "" {
		caches.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:     scheme,
		Logger:     klog.FromContext(ctx),
		Cache:      caches,
		Controller: ctrlconfig.Controller{SkipNameValidation: &o.SkipNameValidation},
		Metrics:    metricsserver.Options{BindAddress: "0"},
	})
}

// AddToScheme adds the types that the operator reads and writes.
func AddToScheme(scheme *runtime.Scheme) error {
	return errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

// Cached is what the manager of the operator is to cache.
func Cached(configMap string) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		// Not by a label: a ConfigMap that has lost it would no longer be in the cache.
		&corev1.ConfigMap{}:       {Field: fields.OneTermEqualSelector("metadata.name", configMap)},
		&v1alpha1.SettingsLayer{}: {Transform: cache.TransformStripManagedFields()},
	}
}

// checkAccess lists a little of what will be watched. A cache that is refused tries
// again for minutes, and only the log shows it; at the start, a refusal is an error.
func checkAccess(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	server, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	err = server.List(ctx, &v1alpha1.SettingsLayerList{}, client.InNamespace(o.Namespace), client.Limit(1))
	if meta.IsNoMatchError(err) {
		return errors.New("the cluster does not know SettingsLayers; create their CRD with kubectl apply -f config/crd")
	} else if err != nil {
		return err
	}
	return server.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(o.Namespace), client.MatchingFields{"metadata.name": o.ConfigMap})
}
