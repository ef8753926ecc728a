package manager

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

var ten = time.Date(2019, 4, 12, 10, 0, 0, 0, time.UTC)

// newAt was created at nine, and is due at ten.
func newAt(name string, change ...func(*cnat.At)) *cnat.At {
	at := &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "quay", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(ten.Add(-time.Hour))},
		Spec:       cnat.AtSpec{Schedule: ten.Format(time.RFC3339)},
		Status:     cnat.AtStatus{Phase: cnat.Pending},
	}
	for _, f := range change {
		f(at)
	}
	return at
}

func deleted(at *cnat.At) {
	at.DeletionTimestamp, at.Finalizers = new(metav1.NewTime(ten)), []string{"foregroundDeletion"}
}

// podOf was created so long after ten.
func podOf(at *cnat.At, after time.Duration) *corev1.Pod {
	pod := lifecycle.DesiredPod(at, lifecycle.DefaultImage)
	pod.CreationTimestamp = metav1.NewTime(ten.Add(after))
	return pod
}

func reader(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	scheme, err := newScheme()
	require.NoError(t, err)
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// gather returns the metrics by their name.
func gather(t *testing.T, collectors ...prometheus.Collector) map[string][]*dto.Metric {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, register(registry, collectors...))
	families, err := registry.Gather()
	require.NoError(t, err)
	byName := map[string][]*dto.Metric{}
	for _, family := range families {
		byName[family.GetName()] = family.GetMetric()
	}
	return byName
}

func TestHowLateAnAtStarts(t *testing.T) {
	created := func(after time.Duration) func(*cnat.At) {
		return func(at *cnat.At) { at.CreationTimestamp = metav1.NewTime(ten.Add(after)) }
	}
	scheduled := func(schedule string) func(*cnat.At) {
		return func(at *cnat.At) { at.Spec.Schedule = schedule }
	}
	of := func(change ...func(*cnat.At)) *cnat.At { return newAt("kettle", change...) }
	for name, tc := range map[string]struct {
		at   *cnat.At
		pod  *corev1.Pod
		want []float64
	}{
		"on time":                        {of(), podOf(of(), 0), []float64{0}},
		"seven seconds late":             {of(), podOf(of(), 7*time.Second), []float64{7}},
		"created after its schedule":     {of(created(time.Minute)), podOf(of(), time.Minute+2*time.Second), []float64{2}},
		"due within a second":            {of(scheduled("2019-04-12T10:00:00.9Z")), podOf(of(), 0), []float64{0}},
		"a schedule that cannot be read": {of(scheduled("noon")), podOf(of(), 0), nil},
		"the pod of another At":          {of(), podOf(newAt("kettle", func(at *cnat.At) { at.UID = "other" }), 0), nil},
		"the At is gone":                 {newAt("pot"), podOf(of(), 0), nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLateness(reader(t, tc.at))
			l.observe(t.Context(), tc.pod)
			histogram := gather(t, l)["cnat_start_lateness_seconds"][0].GetHistogram()
			assert.EqualValues(t, len(tc.want), histogram.GetSampleCount())
			for _, seconds := range tc.want {
				assert.InDelta(t, seconds, histogram.GetSampleSum(), 0)
			}
		})
	}
}

func TestAtsByPhase(t *testing.T) {
	in := func(name string, p cnat.AtPhase) *cnat.At {
		return newAt(name, func(at *cnat.At) { at.Status.Phase = p })
	}
	a := &atCollector{reader(t, in("a", ""), in("b", cnat.Pending), in("c", cnat.Done)), testclock.NewFakePassiveClock(ten)}
	count := map[string]float64{}
	for _, metric := range gather(t, a)["cnat_ats"] {
		count[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
	}
	assert.Equal(t, map[string]float64{"PENDING": 2, "RUNNING": 0, "DONE": 1}, count)
}

// An At that is not started has no lateness. How long has it waited?
func TestTheAtThatHasWaitedLongestForItsPod(t *testing.T) {
	of := func(change ...func(*cnat.At)) *cnat.At { return newAt("kettle", change...) }
	phase := func(p cnat.AtPhase) func(*cnat.At) { return func(at *cnat.At) { at.Status.Phase = p } }
	for name, tc := range map[string]struct {
		now     time.Duration // after ten
		objects []client.Object
		want    float64
	}{
		"there are none":                       {time.Hour, nil, 0},
		"it is not due":                        {-time.Second, []client.Object{of()}, 0},
		"no reconcile has come to it":          {time.Hour, []client.Object{of(phase(""))}, 3600},
		"it is RUNNING, and the pod refused":   {time.Hour, []client.Object{of(phase(cnat.Running))}, 3600},
		"its pod is there":                     {time.Hour, []client.Object{of(phase(cnat.Running)), podOf(of(), 0)}, 0},
		"it is over":                           {time.Hour, []client.Object{of(phase(cnat.Done))}, 0},
		"it is being deleted":                  {time.Hour, []client.Object{of(deleted)}, 0},
		"its schedule cannot be read":          {time.Hour, []client.Object{of(func(at *cnat.At) { at.Spec.Schedule = "noon" })}, 0},
		"the longest of several":               {time.Hour, []client.Object{newAt("pot", func(at *cnat.At) { at.Spec.Schedule = "2019-04-12T10:59:00Z" }), of()}, 3600},
		"it was created after its schedule":    {time.Hour, []client.Object{of(func(at *cnat.At) { at.CreationTimestamp = metav1.NewTime(ten.Add(59 * time.Minute)) })}, 60},
		"the pod of the At that was before it": {time.Hour, []client.Object{of(), podOf(newAt("kettle", func(at *cnat.At) { at.UID = "before" }), 0)}, 3600},
	} {
		t.Run(name, func(t *testing.T) {
			a := &atCollector{reader(t, tc.objects...), testclock.NewFakePassiveClock(ten.Add(tc.now))}
			assert.InDelta(t, tc.want, gather(t, a)["cnat_start_overdue_seconds"][0].GetGauge().GetValue(), 0)
		})
	}
}

func TestTheNamesAreAsPrometheusWantsThem(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, register(registry, info(Options{}), newLateness(reader(t)), &atCollector{reader(t), testclock.NewFakePassiveClock(ten)}))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)
}
