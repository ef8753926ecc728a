package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// addProbes adds what /readyz and /healthz answer.
func addProbes(ctx context.Context, mgr ctrl.Manager) error {
	if err := getInformers(ctx, mgr.GetCache()); err != nil {
		return err
	}
	watchdog := newWatchdog(metrics.Registry, clock.RealClock{})
	return errors.Join(
		mgr.AddReadyzCheck("caches", ready(mgr.GetCache())),
		mgr.AddHealthzCheck("queues", logged(klog.FromContext(ctx), watchdog.alive)),
	)
}

// getInformers creates the informers of all kinds. The controllers would, too, but only
// when they start, and ready waits for the informers that there are. EnableWarmup fills a
// standby's queue as well: https://github.com/kubernetes-sigs/controller-runtime/pull/3192
func getInformers(ctx context.Context, caches cache.Cache) error {
	for kind := range cacheOptions(nil).ByObject {
		if _, err := caches.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("creating an informer for %T: %w", kind, err)
		}
	}
	return nil
}

// ready reports whether the caches are full. A standby is as ready as the leader: it can
// take over at once.
func ready(caches cache.Cache) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("the caches are not full yet")
		}
		return nil
	}
}

// logged logs what a check has found. The framework logs that one has failed, and not
// why.
func logged(log logr.Logger, check healthz.Checker) healthz.Checker {
	return func(r *http.Request) error {
		err := check(r)
		if err != nil {
			log.Error(err, "not alive")
		}
		return err
	}
}

// stallTimeout is for how long a queue may stand still. A reconcile may take a minute,
// an At's 15 seconds, and all workers may be in one.
const stallTimeout = 3 * time.Minute

// watchdog finds out whether a controller has stopped to work without having ended: keys
// wait, and no reconcile ends. Only another process helps then, so this is for liveness.
// It reads the framework's own metrics, each time that the kubelet probes.
//
// A standby has no queues: the framework makes them when it leads.
type watchdog struct {
	gatherer prometheus.Gatherer
	clock    clock.PassiveClock

	mu     sync.Mutex
	queues map[string]*queue // by the name of the controller
}

// queue is how a queue was when it last moved.
type queue struct {
	reconciles float64 // that have ended
	since      time.Time
}

func newWatchdog(gatherer prometheus.Gatherer, clock clock.PassiveClock) *watchdog {
	return &watchdog{gatherer: gatherer, clock: clock, queues: map[string]*queue{}}
}

// alive is an error when a queue has stood still for too long.
func (w *watchdog) alive(*http.Request) error {
	// An error is about the metrics that are missing here. Those of the Ats are missing while their
	// cache fills, and a restart would only begin that again.
	families, _ := w.gatherer.Gather()
	depth := sumByController(families, "workqueue_depth")
	reconciles := sumByController(families, "controller_runtime_reconcile_total")
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, waiting := range depth {
		q := w.queues[name]
		if q == nil || waiting == 0 || q.reconciles != reconciles[name] {
			w.queues[name] = &queue{reconciles: reconciles[name], since: w.clock.Now()}
		} else if still := w.clock.Since(q.since); still > stallTimeout {
			return fmt.Errorf("%s: %.0f keys wait, and no reconcile has ended for %s", name, waiting, still.Round(time.Second))
		}
	}
	return nil
}

// sumByController adds up the values of a metric for each controller.
func sumByController(families []*dto.MetricFamily, name string) map[string]float64 {
	sums := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" {
					sums[label.GetValue()] += metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
				}
			}
		}
	}
	return sums
}
