package manager

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/hacking-a-controller/05-crd-operator/access"
	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
	"example.com/hacking-a-controller/05-crd-operator/settings"
)

// Run works until the context ends. It returns an error if it could not start, or has
// lost the Lease: the kubelet then starts it again.
func Run(ctx context.Context, o Options) error {
	config, _, err := o.Cluster.Load()
	if err != nil {
		return err
	}
	config.UserAgent = "cnat-manager/" + Version
	tracing, err := startTracing(ctx, o)
	if err != nil {
		return err
	}
	defer tracing.stop()
	tracing.traceRequests(config)
	err = run(ctx, config, o, tracing)
	if ctx.Err() != nil {
		return nil // it was stopped, and that is no error
	}
	return explain(err, config, o)
}

// run puts the parts together, and starts them: first the metrics and the probes, then
// the caches, and with the Lease the controllers.
func run(ctx context.Context, config *rest.Config, o Options, tracing *tracing) error {
	mgr, err := newManager(ctx, config, o)
	if err != nil {
		return err
	}
	if err := checkAccess(ctx, config, o.Namespaces); err != nil {
		return err
	}
	if err := errors.Join(
		addControllers(mgr, o, tracing),
		addProbes(ctx, mgr),
		addMetrics(ctx, mgr, o),
	); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("starting", "version", Version, "revision", Revision, "namespaces", o.Namespaces, "leaderElection", o.LeaderElect)
	return mgr.Start(ctx)
}

// newManager returns a manager that makes no request yet.
func newManager(ctx context.Context, config *rest.Config, o Options) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	metrics, err := metricsServer(o)
	if err != nil {
		return nil, err
	}
	options := ctrl.Options{
		Logger:                 klog.FromContext(ctx),
		Scheme:                 scheme,
		MapperProvider:         access.Mapper(scheme),
		Cache:                  cacheOptions(o.Namespaces),
		Metrics:                metrics,
		HealthProbeBindAddress: o.HealthAddress,
		// A reconcile that has begun is finished, for 20 seconds at most; then the manager
		// gives the Lease back, and ends. The kubelet kills a pod that takes 30 seconds.
		GracefulShutdownTimeout: new(20 * time.Second),
	}
	if o.LeaderElect {
		if err := electLeader(&options, config, o); err != nil {
			return nil, err
		}
	}
	return ctrl.NewManager(config, options)
}

// addControllers adds the operators of stage 5, with a trace around each reconcile.
func addControllers(mgr ctrl.Manager, o Options, tracing *tracing) error {
	ats := controllerruntime.NewReconciler(mgr, controllerruntime.Options{Workers: o.Concurrency, Image: o.CommandImage})
	layers := settings.NewReconciler(mgr, settings.Options{Workers: o.Concurrency})
	return errors.Join(
		ats.ControllerManagedBy(mgr).Complete(tracing.traceReconciles("reconcile At", ats)),
		layers.ControllerManagedBy(mgr).Complete(tracing.traceReconciles("reconcile settings", layers)),
	)
}

// leadershipLost is the text of an error of the framework that has no value.
const leadershipLost = "leader election lost"

// explain adds to an error what a user can do about it.
func explain(err error, config *rest.Config, o Options) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w; choose another with --metrics-bind-address (now %s) or --health-bind-address (now %s)", err, o.MetricsAddress, o.HealthAddress)
	case err != nil && err.Error() == leadershipLost:
		return fmt.Errorf("%s: this manager could not renew the Lease for %s, or another one has taken it; start it again, and it is a standby", leadershipLost, renewDeadline)
	default:
		return cli.Explain(err, config.Host)
	}
}
