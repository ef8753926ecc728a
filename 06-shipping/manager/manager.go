package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	ctrl "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
	"example.com/hacking-a-controller/05-crd-operator/settings"
)

// Run works until the context ends. What keeps it from starting is an error; whatever
// runs the manager is to start it again.
func Run(ctx context.Context, o Options) error {
	config, _, err := o.Cluster.Load()
	if err != nil {
		return err
	}
	if err := checkFiles(o); err != nil {
		return err
	}
	config.UserAgent = "cnat-manager/" + Version
	tracing, err := startTracing(ctx, o)
	if err != nil {
		return err
	}
	defer tracing.stop()
	tracing.traceRequests(config)
	err = work(ctx, config, o, tracing)
	if ctx.Err() != nil {
		return nil // it was stopped, and that is no error
	}
	return explain(err, config, o)
}

// work asks whether it can, and then does.
func work(ctx context.Context, config *rest.Config, o Options, tracing *tracing) error {
	if err := knock(ctx, config, o); err != nil {
		return err
	}
	meters := newMeters()
	mgr, err := newManager(ctx, config, o)
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	ats := controllerruntime.NewReconciler(mgr, controllerruntime.Options{Workers: o.Concurrency})
	layers := settings.NewReconciler(mgr, settings.Options{ConfigMap: configMap, Workers: o.Concurrency})
	if err := errors.Join(
		meters.register(metrics.Registry, o, mgr.GetClient()),
		meters.watchStarts(ctx, mgr),
		ats.ControllerManagedBy(mgr).Complete(tracing.aroundAts(ats)),
		layers.ControllerManagedBy(mgr).Complete(tracing.aroundSettings(layers)),
		mgr.AddReadyzCheck("caches", ready(mgr.GetCache())),
		mgr.AddHealthzCheck("queues", logged(klog.FromContext(ctx), newWatchdog(metrics.Registry, func() bool { return leads(mgr) }, clock.RealClock{}).alive)),
	); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("starting", "version", Version, "revision", Revision, "namespaces", o.Namespaces, "leaderElection", o.LeaderElect)
	return mgr.Start(ctx)
}

// configMap is the name of the ConfigMap that settings makes of the layers. The
// role allows no other.
const configMap = "settings"

func newManager(ctx context.Context, config *rest.Config, o Options) (ctrl.Manager, error) {
	types, err := scheme()
	if err != nil {
		return nil, err
	}
	options := ctrl.Options{
		Logger:                 klog.FromContext(ctx),
		Scheme:                 types,
		MapperProvider:         mapper,
		Cache:                  caches(o.Namespaces),
		Metrics:                serveMetrics(o),
		HealthProbeBindAddress: o.HealthAddress,
		// What is in hand is finished, but not for ever: 30 seconds after it was
		// told to stop, a pod is killed.
		GracefulShutdownTimeout: new(20 * time.Second),
		// A standby fills its caches, too, and can take over at once.
		Controller: controllerconfig.Controller{EnableWarmup: new(true)},
	}
	if err := elect(&options, config, o); err != nil {
		return nil, err
	}
	return ctrl.New(config, options)
}
