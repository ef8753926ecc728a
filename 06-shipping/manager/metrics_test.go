package manager

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

var ten = time.Date(2019, 4, 12, 10, 0, 0, 0, time.UTC)

// anAt was created at nine, and is due at ten.
func anAt(started *time.Time, change ...func(*cnat.At)) *cnat.At {
	at := &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "quay", Name: "kettle", CreationTimestamp: metav1.NewTime(ten.Add(-time.Hour))},
		Spec:       cnat.AtSpec{Schedule: ten.Format(time.RFC3339)},
	}
	if started != nil {
		at.Status.StartTime = new(metav1.NewTime(*started))
	}
	for _, f := range change {
		f(at)
	}
	return at
}

func TestHowLateAnAtStarts(t *testing.T) {
	created := func(after time.Duration) func(*cnat.At) {
		return func(at *cnat.At) { at.CreationTimestamp = metav1.NewTime(ten.Add(after)) }
	}
	for name, tc := range map[string]struct {
		before, after *cnat.At
		starts        uint64
		sum           float64
	}{
		"on time":                        {anAt(nil), anAt(&ten), 1, 0},
		"seven seconds late":             {anAt(nil), anAt(new(ten.Add(7 * time.Second))), 1, 7},
		"created after its schedule":     {anAt(nil, created(time.Minute)), anAt(new(ten.Add(time.Minute+2*time.Second)), created(time.Minute)), 1, 2},
		"a second early, as pods are":    {anAt(nil), anAt(new(ten.Add(-time.Second))), 1, 0},
		"not yet":                        {anAt(nil), anAt(nil), 0, 0},
		"it had started before":          {anAt(&ten), anAt(&ten), 0, 0},
		"a schedule that cannot be read": {anAt(nil), anAt(&ten, func(at *cnat.At) { at.Spec.Schedule = "noon" }), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMeters()
			m.observe(tc.before, tc.after)
			registry := prometheus.NewRegistry()
			registry.MustRegister(m.late)
			families, err := registry.Gather()
			require.NoError(t, err)
			histogram := families[0].GetMetric()[0].GetHistogram()
			assert.Equal(t, tc.starts, histogram.GetSampleCount())
			assert.InDelta(t, tc.sum, histogram.GetSampleSum(), 0)
		})
	}
}

func TestAtsByPhase(t *testing.T) {
	phase := func(name string, p cnat.AtPhase) *cnat.At {
		return anAt(nil, func(at *cnat.At) { at.Name = name; at.Status.Phase = p })
	}
	types, err := scheme()
	require.NoError(t, err)
	ats := fake.NewClientBuilder().WithScheme(types).WithObjects(phase("a", ""), phase("b", cnat.Pending), phase("c", cnat.Done)).Build()
	count := func(p string) float64 {
		registry := prometheus.NewPedanticRegistry()
		require.NoError(t, newMeters().register(registry, Options{Region: "coast"}, ats))
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				if family.GetName() == "cnat_ats" && metric.GetLabel()[0].GetValue() == p {
					return metric.GetGauge().GetValue()
				}
			}
		}
		return -1
	}
	assert.Equal(t, []float64{2, 0, 1}, []float64{count("PENDING"), count("RUNNING"), count("DONE")})
}

func TestTheNamesAreAsPrometheusWantsThem(t *testing.T) {
	types, err := scheme()
	require.NoError(t, err)
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, newMeters().register(registry, Options{}, fake.NewClientBuilder().WithScheme(types).Build()))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)
}
