package podruntime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// In these tests the clock is fake, and stands still unless a test lets it go on. The informer and the queue are the real ones.

// start runs podruntime in the background of a synctest bubble, silently. The
// function that it returns stops it and waits.
func start(t *testing.T, client kubernetes.Interface, out io.Writer) (r *runtimes, stop func()) {
	r, err := newRuntimes(client, metav1.NamespaceAll, sinceStart, out)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx, r)
	}()
	wait(time.Second) // client-go checks every 100 ms whether a cache has synced
	return r, func() {
		cancel()
		<-done
	}
}

// wait lets the time pass, and everything happen that is due.
func wait(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // fake time
	synctest.Wait()
}

func put(t *testing.T, client kubernetes.Interface, namespace, name string, status corev1.PodStatus) {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "1"}, Status: status}
	_, err := client.CoreV1().Pods(namespace).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
}

func setStatus(t *testing.T, client kubernetes.Interface, namespace, name string, status corev1.PodStatus) {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "1"}, Status: status}
	_, err := client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
}

func TestTheLineIsPrintedWhenPodsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		began := time.Now().Add(-time.Minute)
		put(t, client, "coast", "a", runs(began))
		put(t, client, "coast", "b", runs(began))
		put(t, client, "harbour", "c", corev1.PodStatus{})
		var out testcluster.Output
		_, stop := start(t, client, &out)
		defer stop()
		assert.ElementsMatch(t, []string{
			"Pods in namespace coast have been running for 2.00 minutes.",
			"Pods in namespace harbour have been running for 0.00 minutes.",
		}, lines(out.Take()), "what is there at the start is printed once for each namespace")

		wait(time.Minute)
		put(t, client, "coast", "d", corev1.PodStatus{Phase: corev1.PodPending})
		wait(0)
		assert.Equal(t, "Pods in namespace coast have been running for 4.03 minutes.\n", out.Take(), "a pod came")

		status := runs(began)
		status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		setStatus(t, client, "coast", "a", status)
		setStatus(t, client, "coast", "d", corev1.PodStatus{Phase: corev1.PodPending, Message: "no room"})
		wait(time.Hour)
		assert.Empty(t, out.Take(), "neither time nor a condition is a change")

		setStatus(t, client, "coast", "d", runs(time.Now()))
		wait(0)
		assert.Equal(t, "Pods in namespace coast have been running for 124.03 minutes.\n", out.Take(), "a pod began to run")

		setStatus(t, client, "coast", "a", succeeded(began, began.Add(time.Minute)))
		wait(0)
		assert.Equal(t, "Pods in namespace coast have been running for 63.02 minutes.\n", out.Take(), "a pod ended")

		require.NoError(t, client.CoreV1().Pods("coast").Delete(t.Context(), "b", metav1.DeleteOptions{}))
		wait(0)
		assert.Equal(t, "Pods in namespace coast have been running for 1.00 minutes.\n", out.Take(), "a pod went")
	})
}

func TestNothingIsPrintedBeforeTheCacheHasSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		answer := make(chan struct{})
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			<-answer
			return false, nil, nil
		})
		var out testcluster.Output
		r, stop := start(t, client, &out)
		defer stop()
		r.enqueue(nil, bell("1", "1", life{start: 100})) // the first of many
		wait(time.Minute)
		assert.Empty(t, out.Take())
		close(answer)
		wait(time.Second)
		assert.Contains(t, out.Take(), "Pods in namespace coast have been running for")
	})
}

func TestABurstIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		release := make(chan struct{})
		var out testcluster.Output
		_, stop := start(t, client, writerFunc(func(p []byte) (int, error) {
			<-release
			return out.Write(p)
		}))
		defer stop()
		for i := range 200 {
			put(t, client, "coast", fmt.Sprint("pod-", i), runs(time.Now()))
		}
		wait(time.Minute) // so long the first line takes
		close(release)
		wait(0)
		assert.Equal(t, "Pods in namespace coast have been running for 0.00 minutes.\n"+
			"Pods in namespace coast have been running for 200.00 minutes.\n", out.Take())
	})
}

func TestALineThatFailedIsPrintedLater(t *testing.T) {
	for name, fail := range map[string]func() (int, error){
		"the output fails":  func() (int, error) { return 0, errors.New("no space left") },
		"the output panics": func() (int, error) { panic("nobody thought of this") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset()
				var out testcluster.Output
				calls := 0
				_, stop := start(t, client, writerFunc(func(p []byte) (int, error) {
					if calls++; calls == 1 {
						return fail()
					}
					return out.Write(p)
				}))
				defer stop()
				put(t, client, "coast", "a", runs(time.Now()))
				wait(time.Minute)
				assert.Equal(t, "Pods in namespace coast have been running for 0.00 minutes.\n", out.Take())
				assert.Equal(t, 2, calls)
			})
		})
	}
}

func TestTheMetricIsComputedWhenItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		began := time.Now()
		put(t, client, "coast", "a", runs(began))
		put(t, client, "coast", "b", succeeded(began.Add(-time.Minute), began))
		put(t, client, "harbour", "c", corev1.PodStatus{})
		r, stop := start(t, client, io.Discard)
		defer stop()

		wait(30*time.Second - time.Since(began))
		assert.Equal(t, map[string]float64{"coast": 90, "harbour": 0}, scrape(t, &collector{r.totals, r.ready}))
		wait(1500 * time.Millisecond)
		require.NoError(t, client.CoreV1().Pods("harbour").Delete(t.Context(), "c", metav1.DeleteOptions{}))
		wait(0)
		assert.Equal(t, map[string]float64{"coast": 91.5}, scrape(t, &collector{r.totals, r.ready}),
			"nothing happened to the pods of coast, but time went on; and a namespace without pods is forgotten")
	})
}

// scrape reads the metric as Prometheus does: one value for each namespace.
func scrape(t *testing.T, c *collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, family := range families {
		assert.Equal(t, "pod_runtime_seconds", family.GetName())
		for _, m := range family.GetMetric() {
			values[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
	}
	return values
}

func TestHalfASumIsNotShown(t *testing.T) {
	totals := newTotals()
	totals.replace(nil, bell("1", "1", life{start: 100}))
	assert.Empty(t, scrape(t, &collector{totals, func() error { return errors.New("not yet") }}))
	assert.Len(t, scrape(t, &collector{totals, func() error { return nil }}), 1)
}

// A tombstone takes out of the total what the cache knew of the pod.
func TestATombstone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		put(t, client, "coast", "bell", runs(time.Unix(100, 0)))
		var out testcluster.Output
		r, stop := start(t, client, &out)
		defer stop()
		out.Take()

		r.handlers().OnDelete(cache.DeletedFinalStateUnknown{Key: "coast/bell", Obj: bell("1", "", life{start: 100})})
		wait(0)
		assert.Empty(t, r.totals.all(time.Now()))
		assert.Equal(t, "Pods in namespace coast have been running for 0.00 minutes.\n", out.Take())
	})
}

func lines(output string) (lines []string) {
	for line := range strings.Lines(output) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
