package manager

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// factory is a registry with the metrics of two controllers.
type factory struct {
	*prometheus.Registry
	depth      *prometheus.GaugeVec
	reconciles *prometheus.CounterVec
}

func newFactory() factory {
	f := factory{
		Registry:   prometheus.NewRegistry(),
		depth:      prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "workqueue_depth"}, []string{"controller", "priority"}),
		reconciles: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "controller_runtime_reconcile_total"}, []string{"controller", "result"}),
	}
	f.MustRegister(f.depth, f.reconciles)
	return f
}

func TestWhyItIsNotAliveIsLogged(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	for _, err := range []error{nil, errors.New("9 keys wait")} {
		require.Equal(t, err, logged(log, func(*http.Request) error { return err })(nil))
	}
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], "9 keys wait")
}

func TestReadyWaitsForEachKind(t *testing.T) {
	scheme, err := newScheme()
	require.NoError(t, err)
	caches := &informertest.FakeInformers{Scheme: scheme}
	require.NoError(t, getInformers(t.Context(), caches))
	var kinds []string
	for kind := range caches.InformersByGVK {
		kinds = append(kinds, kind.Kind)
	}
	require.ElementsMatch(t, []string{"At", "SettingsLayer", "Pod", "ConfigMap"}, kinds)

	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil)
	require.NoError(t, ready(caches)(request))
	caches.Synced = new(false)
	require.EqualError(t, ready(caches)(request), "the caches are not full yet")
}

// checks are those of one probe, which fails if one of them does.
type checks []healthz.Checker

func (c checks) run(r *http.Request) error {
	var errs []error
	for _, check := range c {
		errs = append(errs, check(r))
	}
	return errors.Join(errs...)
}

// probed is a leader that stores the checks that are added to it.
type probed struct {
	candidate
	caches       *informertest.FakeInformers
	ready, alive checks
}

func (p *probed) GetCache() cache.Cache  { return p.caches }
func (p *probed) GetLogger() logr.Logger { return logr.Discard() }

func (p *probed) AddReadyzCheck(_ string, check healthz.Checker) error {
	p.ready = append(p.ready, check)
	return nil
}

func (p *probed) AddHealthzCheck(_ string, check healthz.Checker) error {
	p.alive = append(p.alive, check)
	return nil
}

func TestOnlyReadyIsAboutTheCaches(t *testing.T) {
	scheme, err := newScheme()
	require.NoError(t, err)
	p := &probed{candidate: candidate{elected: make(chan struct{})}, caches: &informertest.FakeInformers{Scheme: scheme, Synced: new(false)}}
	close(p.elected)
	require.NoError(t, addProbes(t.Context(), p))
	require.Len(t, p.caches.InformersByGVK, 4, "ready knows only the informers that there are")
	require.NotEmpty(t, p.alive)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	require.EqualError(t, p.ready.run(request), "the caches are not full yet")
	require.NoError(t, p.alive.run(request), "a restart fills no cache")
}

func TestAnHeirBeginsToCountWhenItLeads(t *testing.T) {
	f, clock := newFactory(), testclock.NewFakePassiveClock(time.Unix(0, 0))
	w := newWatchdog(f, clock)
	minute := func() { clock.SetTime(clock.Now().Add(time.Minute)) }
	for range 3 * 60 { // a standby, which has no queue
		require.NoError(t, w.alive(nil))
		minute()
	}
	f.depth.WithLabelValues("ats", "").Set(9)
	for range 4 { // it begins to count now
		require.NoError(t, w.alive(nil))
		minute()
	}
	require.Error(t, w.alive(nil))
}

func TestTheWatchdog(t *testing.T) {
	for name, tc := range map[string]struct {
		minute func(factory) // what happens in each of ten minutes
		want   string
	}{
		"nothing to do":     {func(f factory) { f.depth.WithLabelValues("ats", "").Set(0) }, ""},
		"no controller yet": {func(factory) {}, ""},
		"much to do": {func(f factory) {
			f.depth.WithLabelValues("ats", "").Set(9)
			f.reconciles.WithLabelValues("ats", "error").Inc()
		}, ""},
		"it stands still": {func(f factory) { f.depth.WithLabelValues("ats", "").Add(1) }, "ats: 5 keys wait, and no reconcile has ended for 4m0s"},
		"with many queues": {func(f factory) {
			f.depth.WithLabelValues("ats", "0").Set(1)
			f.depth.WithLabelValues("ats", "-100").Set(2)
		}, "ats: 3 keys wait, and no reconcile has ended for 4m0s"},
		"another one goes on": {func(f factory) {
			f.depth.WithLabelValues("ats", "").Set(2)
			f.reconciles.WithLabelValues("settings", "success").Inc()
		}, "ats: 2 keys wait, and no reconcile has ended for 4m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			f, clock := newFactory(), testclock.NewFakePassiveClock(time.Unix(0, 0))
			w := newWatchdog(f, clock)
			var got error
			for range 10 {
				tc.minute(f)
				if got = w.alive(nil); got != nil {
					break
				}
				clock.SetTime(clock.Now().Add(time.Minute))
			}
			if tc.want == "" {
				require.NoError(t, got, name)
			} else {
				require.EqualError(t, got, tc.want, name)
			}
		})
	}
}

// filling is a cache that isn't full yet.
type filling struct{ client.Reader }

func (filling) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("the cache is not full yet")
}

func TestACacheThatFillsIsNotAStuckQueue(t *testing.T) {
	f, clock := newFactory(), testclock.NewFakePassiveClock(time.Unix(0, 0))
	f.MustRegister(&atCollector{filling{}, clock})
	f.depth.WithLabelValues("ats", "").Set(9)
	w := newWatchdog(f, clock)
	for range 4 {
		require.NoError(t, w.alive(nil))
		clock.SetTime(clock.Now().Add(time.Minute))
	}
	require.EqualError(t, w.alive(nil), "ats: 9 keys wait, and no reconcile has ended for 4m0s", "a stuck queue is still found")
}

func TestAQueueThatWasEmptyBeginsAnew(t *testing.T) {
	f, clock := newFactory(), testclock.NewFakePassiveClock(time.Unix(0, 0))
	w := newWatchdog(f, clock)
	for range 10 {
		for _, depth := range []float64{1, 1, 1, 0} { // and what empties it is not counted as a reconcile
			f.depth.WithLabelValues("ats", "").Set(depth)
			require.NoError(t, w.alive(nil))
			clock.SetTime(clock.Now().Add(time.Minute))
		}
	}
}
