//go:build try

package debugging_test

import (
	"context"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// What the lesson of part 7 asks the reader to write: what an operator says of itself.

// harbour is the namespace of all Ats.
const harbour = "harbour"

func newAt(schedule time.Time) *cnat.At {
	return &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: harbour, Name: "bell"},
		Spec:       cnat.AtSpec{Schedule: schedule.UTC().Format(time.RFC3339), Command: "echo DING"},
	}
}

// newClient returns a client of objects in memory, whose requests go through functions.
func newClient(t *testing.T, answers interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, controllerruntime.AddToScheme(scheme))
	return fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&cnat.At{}).WithObjects(objects...).WithInterceptorFuncs(answers).Build()
}

// reconcile reconciles bell once.
func reconcile(ctx context.Context, c client.Client) error {
	r := &controllerruntime.Reconciler{Client: c, Live: c, Events: events.NewFakeRecorder(10), Clock: clock.RealClock{}}
	_, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: harbour, Name: "bell"}})
	return err
}

// logged reconciles once, and returns the lines of its log up to a level.
func logged(t *testing.T, level int, c client.Client) []string {
	t.Helper()
	var lines []string
	logger := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{Verbosity: level})
	require.NoError(t, reconcile(log.IntoContext(t.Context(), logger), c))
	return lines
}

func TestTryTheLogReportsWhatAnAtWaitsFor(t *testing.T) {
	at := newAt(time.Now().Add(time.Hour))
	c := newClient(t, interceptor.Funcs{}, at)
	logged(t, 1, c) // this one also writes the status
	lines := strings.Join(logged(t, 1, c), "\n")
	require.Contains(t, lines, `"msg"="waits"`, "there is no line of level 1")
	assert.Contains(t, lines, `"until"="`+at.Spec.Schedule, "the line doesn't say until when")
	assert.Empty(t, logged(t, 0, c), "nothing has happened, so a log of level 0 has no line")
}

func TestTryTheLogReportsThatAPodMayGo(t *testing.T) {
	at := newAt(time.Now())
	at.Status.Phase = cnat.Done
	c := newClient(t, interceptor.Funcs{}, at, lifecycle.DesiredPod(at, lifecycle.DefaultImage))
	lines := strings.Join(logged(t, 0, c), "\n")
	require.Contains(t, lines, "removed the finalizer", "the log has no line for this write")
	assert.Contains(t, lines, `"bell-pod"`, "of which pod?")

	refusing := newClient(t, interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
		return context.DeadlineExceeded
	}}, at, lifecycle.DesiredPod(at, lifecycle.DefaultImage))
	logger := funcr.New(func(_, line string) { t.Errorf("the API server has refused, and the log says: %s", line) }, funcr.Options{})
	require.Error(t, reconcile(log.IntoContext(t.Context(), logger), refusing))
}

func TestTryAMetricCountsTheStatusWrites(t *testing.T) {
	const name = "at_status_writes_total"
	before, found := counter(t, name)
	require.True(t, found, "there is no metric %s", name)
	at := newAt(time.Now().Add(time.Hour))
	c := newClient(t, interceptor.Funcs{}, at)
	for range 3 { // only the first has something to write
		logged(t, 0, c)
	}
	after, _ := counter(t, name)
	assert.InDelta(t, 1, after-before, 0, "one status was written")
}

// counter is the value of a metric of the manager.
func counter(t *testing.T, name string) (value float64, found bool) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetCounter().GetValue(), true
		}
	}
	return 0, false
}

func TestTryAProfileNamesTheAt(t *testing.T) {
	goroutines := func() string {
		var profile strings.Builder
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&profile, 1))
		return profile.String()
	}
	during := ""
	c := newClient(t, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		if _, isPod := object.(*corev1.Pod); isPod {
			during = goroutines()
		}
		return c.Get(ctx, key, object, options...)
	}}, newAt(time.Now().Add(time.Hour)))
	logged(t, 0, c)
	require.Contains(t, during, `labels: {"at":"harbour/bell"}`, "the goroutine that reconciles has no label")
	assert.NotContains(t, goroutines(), `"at":"harbour/bell"`, "the worker keeps the label after the reconcile")
}
