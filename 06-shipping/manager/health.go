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
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// ready waits for the caches, for a moment. A manager that is ready can take over
// at once; a standby is as ready as the leader.
func ready(c cache.Cache) func(*http.Request) error {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return errors.New("the caches are not full yet")
		}
		return nil
	}
}

// logged logs what a check has found. The framework logs that one has failed, and not
// why.
func logged(log logr.Logger, check func(*http.Request) error) func(*http.Request) error {
	return func(r *http.Request) error {
		err := check(r)
		if err != nil {
			log.Error(err, "not alive")
		}
		return err
	}
}

// stillness is for how long a queue may stand still. A pass may take a minute, and
// all workers may be in one.
const stillness = 3 * time.Minute

// watchdog finds out whether a controller has stopped to work without having
// ended: keys wait, and no pass ends. To kill such a program and start another is
// the best that anybody can do, so this is for liveness. It looks each time that
// it is asked, at the metrics that there are anyway.
//
// A standby is to stand still: its queues are full, and wait for it to lead.
type watchdog struct {
	gatherer prometheus.Gatherer
	leads    func() bool
	clock    clock.PassiveClock

	mu     sync.Mutex
	queues map[string]*queue // by the name of the controller
}

// queue is how a queue was when it last moved.
type queue struct {
	passes float64 // that have ended
	since  time.Time
}

func newWatchdog(gatherer prometheus.Gatherer, leads func() bool, clock clock.PassiveClock) *watchdog {
	return &watchdog{gatherer: gatherer, leads: leads, clock: clock, queues: map[string]*queue{}}
}

// alive is an error when a queue has stood still for too long.
func (w *watchdog) alive(*http.Request) error {
	if !w.leads() {
		return nil
	}
	families, err := w.gatherer.Gather()
	if err != nil {
		return fmt.Errorf("reading the metrics: %w", err)
	}
	depth := sumByController(families, "workqueue_depth")
	passes := sumByController(families, "controller_runtime_reconcile_total")
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, waiting := range depth {
		q := w.queues[name]
		if q == nil || waiting == 0 || q.passes != passes[name] {
			w.queues[name] = &queue{passes: passes[name], since: w.clock.Now()}
		} else if still := w.clock.Since(q.since); still > stillness {
			return fmt.Errorf("%s: %.0f keys wait, and no pass has ended for %s", name, waiting, still.Round(time.Second))
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
