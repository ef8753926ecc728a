package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// addMetrics adds to the metrics of the framework, which are about queues, reconciles and
// requests, those about the objects of the users. settings counts repairs of drift itself.
func addMetrics(ctx context.Context, mgr ctrl.Manager, o Options) error {
	lateness := newLateness(mgr.GetClient())
	pods, err := mgr.GetCache().GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	_, err = pods.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{AddFunc: func(pod any, isInInitialList bool) {
		// What was there at the start, another process has observed.
		if !isInInitialList && leads(mgr) {
			lateness.observe(ctx, pod.(*corev1.Pod))
		}
	}})
	return errors.Join(err, register(metrics.Registry, info(o), lateness, &atCollector{mgr.GetClient(), clock.RealClock{}}))
}

func register(registry prometheus.Registerer, collectors ...prometheus.Collector) error {
	var problems []error
	for _, collector := range collectors {
		problems = append(problems, registry.Register(collector))
	}
	return errors.Join(problems...)
}

// info says what runs, and where.
func info(o Options) prometheus.Collector {
	gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "cnat_manager_info",
		Help: "Always 1. The labels are what runs, and where.",
	}, []string{"version", "revision", "region"})
	gauge.WithLabelValues(Version, Revision, o.Region).Set(1)
	return gauge
}

// dueTime is when the pod of an At is to be created. A schedule that had passed when the At was
// created means at once.
func dueTime(at *cnat.At) (time.Time, error) {
	schedule, err := lifecycle.Schedule(at)
	if created := at.CreationTimestamp.Time; created.After(schedule) {
		return created, err
	}
	return schedule, err
}

// lateness is about the Ats that were started.
type lateness struct {
	prometheus.Histogram
	ats client.Reader
}

func newLateness(ats client.Reader) *lateness {
	return &lateness{prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "cnat_start_lateness_seconds",
		Help: "How many seconds after its schedule, or after its creation if that was later, the pod of an At was created.",
		// The API has whole seconds, and so has this.
		Buckets: []float64{0.5, 1, 2, 5, 10, 30, 60, 300},
	}), ats}
}

// observe is called for each pod that was just created.
func (l *lateness) observe(ctx context.Context, pod *corev1.Pod) {
	name, _ := lifecycle.AtOf(pod)
	at := &cnat.At{}
	if err := l.ats.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: name}, at); err != nil || !lifecycle.IsPodOf(pod, at) {
		return // it is gone, or the pod is of another
	}
	if due, err := dueTime(at); err == nil {
		// The creation is in whole seconds, and the schedule need not be.
		l.Observe(max(0, pod.CreationTimestamp.Sub(due).Seconds()))
	}
}

// atCollector counts the Ats in the cache at each scrape. A gauge that is moved up and
// down with each event would be wrong from the first that is missed.
type atCollector struct {
	client.Reader
	clock clock.PassiveClock
}

var (
	atsByPhase = prometheus.NewDesc("cnat_ats", "How many Ats there are, by their phase.", []string{"phase"}, nil)
	// An At that is not started has no lateness yet, and may never have one.
	overdue = prometheus.NewDesc("cnat_start_overdue_seconds", "For how many seconds the At that has waited longest for its pod has been due; 0 if none waits.", nil, nil)
)

// Describe sends the descriptions of both metrics.
func (a *atCollector) Describe(to chan<- *prometheus.Desc) { to <- atsByPhase; to <- overdue }

// Collect reads the cache.
func (a *atCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var all cnat.AtList
	var pods corev1.PodList
	// The cache's own objects: they are counted, and not changed.
	if err := errors.Join(a.List(ctx, &all, client.UnsafeDisableDeepCopy), a.List(ctx, &pods, client.UnsafeDisableDeepCopy)); err != nil {
		return // a cache that is not full yet; an error would hide all other metrics, too
	}
	started := map[types.UID]bool{}
	for i := range pods.Items {
		if owner := metav1.GetControllerOfNoCopy(&pods.Items[i]); owner != nil {
			started[owner.UID] = true
		}
	}
	count := map[cnat.AtPhase]float64{cnat.Pending: 0, cnat.Running: 0, cnat.Done: 0}
	var longest time.Duration
	for i := range all.Items {
		at := &all.Items[i]
		phase := at.Status.Phase
		if phase == "" {
			phase = cnat.Pending // no reconcile has come to it yet
		}
		count[phase]++
		if due, err := dueTime(at); err == nil && phase != cnat.Done && at.DeletionTimestamp == nil && !started[at.UID] {
			longest = max(longest, a.clock.Since(due))
		}
	}
	for phase, n := range count {
		to <- prometheus.MustNewConstMetric(atsByPhase, prometheus.GaugeValue, n, string(phase))
	}
	to <- prometheus.MustNewConstMetric(overdue, prometheus.GaugeValue, longest.Seconds())
}
