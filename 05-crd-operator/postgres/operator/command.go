package operator

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/distribution/reference"
	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

const program = "postgres-operator" // under this name it does all that it does

// Command returns the program.
func Command() *cobra.Command {
	var (
		flags         cli.ConfigFlags
		allNamespaces bool
		serviceType   string
		o             Options
	)
	command := &cobra.Command{
		Use:   program,
		Short: "Run PostgresClusters: PostgreSQL on one or more members, which fails over",
		Args:  cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if o.Version, err = versionOf(o.Image); err != nil {
				return cli.UsageError(command, err)
			}
			o.ServiceType = corev1.ServiceType(serviceType)
			if o.ServiceType != corev1.ServiceTypeClusterIP && o.ServiceType != corev1.ServiceTypeNodePort {
				return cli.UsageError(command, fmt.Errorf("--service-type %q is neither ClusterIP nor NodePort", serviceType))
			}
			config, namespace, err := flags.Load()
			if err != nil {
				return err
			}
			if !allNamespaces {
				o.Namespace = namespace
			}
			ctrl.SetLogger(klog.FromContext(command.Context()))
			return Run(command.Context(), config, o)
		},
	}
	flags.AddFlags(command.Flags())
	flags.AddNamespaceFlag(command.Flags())
	command.Flags().BoolVarP(&allNamespaces, "all-namespaces", "A", false, "all namespaces; -n is ignored")
	command.Flags().StringVar(&o.Image, "image", "", "the `image` of the members, as make postgres names it; its tag is the version of PostgreSQL")
	command.Flags().StringVar(&serviceType, "service-type", string(corev1.ServiceTypeClusterIP), "the `type` of the Services: ClusterIP or NodePort. In the lab, only NodePort can be reached")
	return command
}

// versionOf is the major version of PostgreSQL in an image, which is its tag.
func versionOf(image string) (string, error) {
	if image == "" {
		return "", fmt.Errorf("--image is missing; make postgres makes one and prints its name")
	}
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return "", fmt.Errorf("--image %q is no name of an image: %w", image, err)
	}
	if tagged, ok := named.(reference.Tagged); ok {
		if _, err := strconv.ParseUint(tagged.Tag(), 10, 8); err == nil {
			return tagged.Tag(), nil
		}
	}
	return "", fmt.Errorf("--image %q does not say which PostgreSQL is in it; give it a major version as its tag, such as postgres-member:17", image)
}

// Run works until the context ends. It returns an error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	err := run(ctx, config, o)
	if ctx.Err() != nil {
		return nil // it was stopped, and that is no error
	}
	return cli.Explain(err, config.Host)
}

func run(ctx context.Context, c *rest.Config, o Options) error {
	mgr, err := newManager(ctx, c, o)
	if err != nil {
		return err
	}
	if err := NewReconciler(mgr, o).SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func newManager(ctx context.Context, c *rest.Config, o Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := checkAccess(ctx, c, scheme, o.Namespace); err != nil {
		return nil, err
	}
	caches := cache.Options{ByObject: cached(), ReaderFailOnMissingInformer: true}
	if o.Namespace != "" {
		caches.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	mgr, err := ctrl.NewManager(c, ctrl.Options{
		Scheme:         scheme,
		Logger:         klog.FromContext(ctx),
		MapperProvider: func(*rest.Config, *http.Client) (apimeta.RESTMapper, error) { return mapper(scheme), nil },
		Cache:          caches,
		// So that two operators can be in one process. Names of controllers are global.
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
		Metrics:    metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, fmt.Errorf("creating a manager for %s: %w; repair the kubeconfig", c.Host, err)
	}
	return mgr, nil
}

// AddToScheme adds the types that the operator reads and writes.
func AddToScheme(s *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(postgres.AddToScheme, corev1.AddToScheme, coordinationv1.AddToScheme, rbacv1.AddToScheme)
	return builder.AddToScheme(s)
}

// cached is what is watched. Of what belongs to clusters, it is what has their label.
func cached() map[client.Object]cache.ByObject {
	label, err := labels.Parse(plan.SelectorLabel)
	utilruntime.Must(err)
	ours := cache.ByObject{Label: label, Transform: cache.TransformStripManagedFields()}
	return map[client.Object]cache.ByObject{
		&postgres.PostgresCluster{}: {},
		&corev1.Pod{}:               ours,
		&corev1.Service{}:           ours,
		&corev1.ServiceAccount{}:    ours,
		&rbacv1.Role{}:              ours,
		&rbacv1.RoleBinding{}:       ours,
	}
}

// mapper knows the kinds of the scheme, all of which are in namespaces, so that nothing has to
// be discovered.
func mapper(scheme *runtime.Scheme) apimeta.RESTMapper {
	m := apimeta.NewDefaultRESTMapper(nil)
	for kind := range scheme.AllKnownTypes() {
		m.Add(kind, apimeta.RESTScopeNamespace)
	}
	return m
}

// checkAccess lists a little of what will be watched: a cache that is refused only tries again.
func checkAccess(ctx context.Context, c *rest.Config, scheme *runtime.Scheme, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	server, err := client.New(c, client.Options{Scheme: scheme, Mapper: mapper(scheme)})
	if err != nil {
		return fmt.Errorf("creating a client for %s: %w; repair the kubeconfig", c.Host, err)
	}
	err = server.List(ctx, &postgres.PostgresClusterList{}, client.InNamespace(namespace), client.Limit(1))
	if status, ok := err.(interface{ Status() metav1.Status }); ok && status.Status().Code == http.StatusNotFound {
		return fmt.Errorf("%s does not know PostgresClusters; create their CRD with kubectl apply -f config/crd", c.Host)
	}
	return err
}
