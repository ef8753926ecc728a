package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/manager"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// The metrics of the framework tell how the program does: its queues, its passes,
// its requests. These here tell how its users do. Repairs of drift are counted by settings.
type meters struct {
	late prometheus.Histogram
	info *prometheus.GaugeVec
}

func newMeters() *meters {
	return &meters{
		late: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cnat_start_lateness_seconds",
			Help: "How many seconds after its schedule, or after its creation if that was later, the pod of an At was created.",
			// The API has whole seconds, so this has, too.
			Buckets: []float64{0.5, 1, 2, 5, 10, 30, 60, 300},
		}),
		info: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "cnat_manager_info",
			Help: "Always 1. The labels tell what runs, and where.",
		}, []string{"version", "revision", "region"}),
	}
}

// register adds the metrics to the registry, and those that are counted when they
// are asked for.
func (m *meters) register(registry prometheus.Registerer, o Options, ats client.Reader) error {
	m.info.WithLabelValues(Version, Revision, o.Region).Set(1)
	var problems []error
	for _, collector := range []prometheus.Collector{m.late, m.info, &phases{ats}} {
		problems = append(problems, registry.Register(collector))
	}
	return errors.Join(problems...)
}

// phases counts the Ats in the cache each time that somebody looks. A gauge that
// is moved up and down with each event would drift with the first that is missed.
type phases struct{ ats client.Reader }

var atsByPhase = prometheus.NewDesc("cnat_ats", "How many Ats there are, by their phase.", []string{"phase"}, nil)

// Describe tells which metric it is.
func (p *phases) Describe(to chan<- *prometheus.Desc) { to <- atsByPhase }

// Collect counts.
func (p *phases) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var all cnat.AtList
	// The cache's own objects: they are counted, and not changed.
	if err := p.ats.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		to <- prometheus.NewInvalidMetric(atsByPhase, err) // a cache that is not full yet
		return
	}
	count := map[cnat.AtPhase]float64{cnat.Pending: 0, cnat.Running: 0, cnat.Done: 0}
	for i := range all.Items {
		phase := all.Items[i].Status.Phase
		if phase == "" {
			phase = cnat.Pending // nobody has come to it yet
		}
		count[phase]++
	}
	for phase, n := range count {
		to <- prometheus.MustNewConstMetric(atsByPhase, prometheus.GaugeValue, n, string(phase))
	}
}

// watchStarts observes each At that starts, while this manager leads. One that
// had started before is not observed again after a restart.
func (m *meters) watchStarts(ctx context.Context, mgr ctrl.Manager) error {
	informer, err := mgr.GetCache().GetInformer(ctx, &cnat.At{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching Ats: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, after any) {
			if leads(mgr) {
				m.observe(before.(*cnat.At), after.(*cnat.At))
			}
		},
	})
	return err
}

// observe notes how late an At has started, if it has just started.
func (m *meters) observe(before, after *cnat.At) {
	schedule, err := lifecycle.Schedule(after)
	if err != nil || before.Status.StartTime != nil || after.Status.StartTime == nil {
		return
	}
	due := schedule
	if created := after.CreationTimestamp.Time; created.After(due) {
		due = created // a schedule in the past is now
	}
	// startTime is in whole seconds, and the schedule need not be.
	m.late.Observe(max(0, after.Status.StartTime.Sub(due).Seconds()))
}
