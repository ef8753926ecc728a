package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/hacking-a-controller/05-crd-operator/api/settings/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/cluster"
)

// program is the name under which the operator does all that it does.
const program = "settings"

// Run is the program without its process. It returns the exit code: 0 also when
// the context has ended, because nothing else ends it.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	if err == nil {
		err = connectAndOperate(ctx, o)
	}
	if err != nil && !errors.Is(err, pflag.ErrHelp) && ctx.Err() == nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

// connectAndOperate finds the cluster.
func connectAndOperate(ctx context.Context, o options) error {
	config, namespace, err := o.cluster.Config()
	if err != nil {
		return err
	}
	if !o.allNamespaces {
		o.namespace = namespace
	}
	ctrl.SetLogger(klog.FromContext(ctx))
	return cluster.Explain(operate(ctx, config, o), config.Host)
}

// operate works until the context ends.
func operate(ctx context.Context, config *rest.Config, o options) error {
	mgr, err := newManager(ctx, config, o)
	if err != nil {
		return err
	}
	if err := newReconciler(mgr, o).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("adding the controller to the manager: %w", err)
	}
	return mgr.Start(ctx)
}

func newReconciler(mgr ctrl.Manager, o options) *Reconciler {
	return &Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(program),
		ConfigMap: o.configMap,
		Workers:   o.workers,
	}
}

func newManager(ctx context.Context, config *rest.Config, o options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the types: %w", err)
	}
	if err := checkAccess(ctx, config, scheme, o); err != nil {
		return nil, err
	}
	caches := cache.Options{ByObject: Cached(o.configMap)}
	if o.namespace != "" {
		caches.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Logger:  klog.FromContext(ctx),
		Cache:   caches,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	return mgr, nil
}

// AddToScheme adds the types that the operator reads and writes.
func AddToScheme(scheme *runtime.Scheme) error {
	return errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

// Cached is what the manager of the operator is to cache.
func Cached(configMap string) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		// Of all ConfigMaps of the cluster, the server sends those with our name. To
		// select them by a label would not do: without it, the ConfigMap would be
		// out of our sight.
		&corev1.ConfigMap{}: {Field: fields.OneTermEqualSelector("metadata.name", configMap)},
		// Nobody here reads who has set which field of a layer.
		&v1alpha1.SettingsLayer{}: {Transform: cache.TransformStripManagedFields()},
	}
}

// checkAccess lists a little of what will be watched. A cache that is refused tries
// again for minutes, and only the log shows it; at the start, a refusal is an error.
func checkAccess(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, o options) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	server, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", config.Host, err)
	}
	err = server.List(ctx, &v1alpha1.SettingsLayerList{}, client.InNamespace(o.namespace), client.Limit(1))
	if meta.IsNoMatchError(err) {
		return errors.New("the cluster does not know SettingsLayers yet; to teach it: kubectl apply -f config/crd")
	}
	if err != nil {
		return err
	}
	return server.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(o.namespace), client.MatchingFields{"metadata.name": o.configMap})
}

// options are the command line, checked.
type options struct {
	cluster       cluster.Flags
	allNamespaces bool
	namespace     string // empty for all
	configMap     string
	workers       int
}

// parseOptions reads the command line. When the user asks for help it prints
// the help to stdout and returns pflag.ErrHelp.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := pflag.NewFlagSet(program, pflag.ContinueOnError)
	o.cluster.AddFlags(flags)
	o.cluster.AddNamespaceFlag(flags)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	flags.StringVar(&o.configMap, "config-map", "settings", "the `name` of the ConfigMap in each namespace; the role allows only settings")
	flags.IntVar(&o.workers, "workers", 4, "how `many` namespaces to work on at the same time")
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Merge the SettingsLayers of a namespace into a ConfigMap, and keep it so.\n\nUsage:\n  settings [flags]\n\nFlags:\n%s", flags.FlagUsages())
	}

	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return o, err
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	default:
		err = o.validate()
	}
	if err != nil {
		return o, fmt.Errorf("%w; see settings --help", err)
	}
	return o, nil
}

func (o options) validate() error {
	if problems := validation.IsDNS1123Subdomain(o.configMap); len(problems) > 0 {
		rule, _, _ := strings.Cut(problems[0], " (e.g.") // what follows is a regular expression
		return fmt.Errorf("--config-map %q is not the name of a ConfigMap: %s", o.configMap, rule)
	}
	if o.workers < 1 {
		return fmt.Errorf("--workers is %d, it must be at least 1", o.workers)
	}
	return nil
}
