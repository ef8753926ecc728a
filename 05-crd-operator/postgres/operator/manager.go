package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	preflight "example.com/hacking-a-controller/05-crd-operator/access"
	"example.com/hacking-a-controller/05-crd-operator/cli"
	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// Run works until the context ends. It returns an error only if it could not start.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	mgr, err := newManager(ctx, config, o)
	if err == nil {
		err = start(ctx, mgr, NewReconciler(mgr, o))
	}
	if ctx.Err() != nil {
		return nil // it was stopped, and that is no error
	}
	return cli.Explain(err, config.Host)
}

func start(ctx context.Context, mgr ctrl.Manager, reconciler *Reconciler) error {
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return err
	}
	if reconciler.MetricsAddress != "" {
		figures := &collector{clusters: mgr.GetClient(), clock: reconciler.Clock, lags: &reconciler.lags}
		if err := metrics.Registry.Register(figures); err != nil {
			return err
		}
		defer metrics.Registry.Unregister(figures)
	}
	return mgr.Start(ctx)
}

func newManager(ctx context.Context, c *rest.Config, o Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := preflight.Check(ctx, c, o.Namespace, preflight.Read{GroupVersionResource: postgres.SchemeGroupVersion.WithResource("postgresclusters")}); err != nil {
		return nil, err
	}
	caches := cache.Options{ByObject: cached(), ReaderFailOnMissingInformer: true}
	if o.Namespace != "" {
		caches.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	mgr, err := ctrl.NewManager(c, ctrl.Options{
		Scheme:         scheme,
		Logger:         klog.FromContext(ctx),
		MapperProvider: preflight.Mapper(scheme),
		Cache:          caches,
		Controller:     ctrlconfig.Controller{SkipNameValidation: &o.SkipNameValidation},
		// The metrics are for clients that may get /metrics, which the API server knows.
		Metrics:                metricsserver.Options{BindAddress: cmp.Or(o.MetricsAddress, "0"), SecureServing: true, FilterProvider: filters.WithAuthenticationAndAuthorization},
		HealthProbeBindAddress: cmp.Or(o.HealthAddress, "0"),
		// One that is stopped gives its Lease back. One that dies is replaced when the Lease has
		// run out, after 15 seconds; until then writes go on, and nobody fails over.
		LeaderElection:                o.LeaderNamespace != "",
		LeaderElectionNamespace:       o.LeaderNamespace,
		LeaderElectionID:              program,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("creating a manager for %s: %w; repair the kubeconfig", c.Host, err)
	}
	synced := func(request *http.Request) error {
		if !mgr.GetCache().WaitForCacheSync(request.Context()) {
			return errors.New("the caches are not full yet")
		}
		return nil
	}
	return mgr, errors.Join(mgr.AddReadyzCheck("caches", synced), mgr.AddHealthzCheck("ping", healthz.Ping))
}

// AddToScheme adds the types that the operator reads and writes.
func AddToScheme(s *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(postgres.AddToScheme, corev1.AddToScheme, coordinationv1.AddToScheme, rbacv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme)
	return builder.AddToScheme(s)
}

// owned is what belongs to clusters, and has their label.
func owned() map[client.Object]cache.ByObject {
	label, err := labels.Parse(plan.SelectorLabel)
	utilruntime.Must(err)
	ours := cache.ByObject{Label: label, Transform: cache.TransformStripManagedFields()}
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}:                   {Label: label, Transform: trimPod},
		&corev1.PersistentVolumeClaim{}: ours,
		&corev1.Service{}:               ours,
		&corev1.ServiceAccount{}:        ours,
		&corev1.ConfigMap{}:             ours,
		&networkingv1.NetworkPolicy{}:   ours,
		&policyv1.PodDisruptionBudget{}: ours,
		&rbacv1.Role{}:                  ours,
		&rbacv1.RoleBinding{}:           ours,
	}
}

// cached is what is watched.
func cached() map[client.Object]cache.ByObject {
	all := owned()
	all[&postgres.PostgresCluster{}] = cache.ByObject{Transform: cache.TransformStripManagedFields()}
	return all
}

// trimPod leaves of a pod in the cache what observeFrom reads. Pods are patched and never updated, so
// what is missing here is not lost there.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil // it was deleted unseen
	}
	containers := make([]corev1.Container, len(pod.Spec.Containers))
	for i, c := range pod.Spec.Containers {
		containers[i] = corev1.Container{Name: c.Name, Image: c.Image, Args: c.Args, Ports: c.Ports}
	}
	pod.ManagedFields, pod.Annotations = nil, nil
	pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName, Containers: containers}
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase, Conditions: pod.Status.Conditions, PodIP: pod.Status.PodIP, ContainerStatuses: pod.Status.ContainerStatuses}
	return pod, nil
}
