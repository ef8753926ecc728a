package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/testcluster"
)

func pod(namespace, name string, status ...corev1.PodStatus) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for _, s := range status {
		pod.Status = s
	}
	return pod
}

// runs and succeeded are statuses that a kubelet would write.
func runs(start time.Time) corev1.PodStatus {
	return corev1.PodStatus{
		Phase:             corev1.PodRunning,
		StartTime:         new(metav1.NewTime(start)),
		ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
	}
}

func succeeded(start, end time.Time) corev1.PodStatus {
	status := runs(start)
	status.Phase = corev1.PodSucceeded
	status.ContainerStatuses = []corev1.ContainerStatus{finished(end)}
	return status
}

func finished(end time.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(end)}}}
}

// cached returns a controller, and the cache that it reads.
func cached(out io.Writer, pods ...*corev1.Pod) (*controller, cache.Indexer) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, pod := range pods {
		_ = indexer.Add(pod) // fails only without metadata
	}
	return newController(corelisters.NewPodLister(indexer), out), indexer
}

// writerFunc is an output.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestALineIsPrintedWhenTheTotalChangesItsCourse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out testcluster.Output
		began := time.Now()
		c, pods := cached(&out, pod("coast", "bell", runs(began)), pod("harbour", "lamp", runs(began)))
		defer c.queue.ShutDown()
		for _, step := range []struct {
			what string
			is   *corev1.Pod
			want string
		}{
			{"what is there at the start", nil, "Pods in namespace coast have been running for 1.00 minutes.\n"},
			{"nothing has happened", nil, ""},
			{"a pod comes", pod("coast", "buoy", corev1.PodStatus{Phase: corev1.PodPending}), ""},
			{"a condition", pod("coast", "buoy", corev1.PodStatus{Phase: corev1.PodPending, Message: "no room"}), ""},
			{"it runs", pod("coast", "buoy", runs(began.Add(4*time.Minute))), "Pods in namespace coast have been running for 6.00 minutes.\n"},
			{"it ends", pod("coast", "buoy", succeeded(began.Add(4*time.Minute), began.Add(5*time.Minute))), "Pods in namespace coast have been running for 7.00 minutes.\n"},
			{"another has taken the name of one that ran", pod("coast", "bell"), "Pods in namespace coast have been running for 1.00 minutes.\n"},
		} {
			wait(time.Minute)
			if step.is != nil {
				require.NoError(t, pods.Update(step.is))
			}
			require.NoError(t, c.reconcile(t.Context(), "coast"))
			assert.Equal(t, step.want, out.Take(), step.what)
		}
		require.NoError(t, pods.Delete(pod("coast", "buoy")))
		require.NoError(t, c.reconcile(t.Context(), "coast"))
		assert.Equal(t, "Pods in namespace coast have been running for 0.00 minutes.\n", out.Take(), "a pod goes, and its time with it")
		_, remembered := c.printed.Load("coast")
		assert.False(t, remembered, "the namespace is forgotten")
	})
}

func TestALineThatFailedIsPrintedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out testcluster.Output
		var calls atomic.Int32
		c, _ := cached(writerFunc(func(line []byte) (int, error) {
			switch calls.Add(1) {
			case 1:
				return 0, errors.New("no space left")
			case 2:
				panic("nobody thought of this")
			}
			return out.Write(line)
		}), pod("coast", "bell", runs(time.Now().Add(-time.Minute))))
		start(t, c, 1, c.reconcile)
		c.queue.Add("coast")
		wait(time.Minute)
		assert.Equal(t, "Pods in namespace coast have been running for 1.00 minutes.\n", out.Take())
		assert.EqualValues(t, 3, calls.Load())
	})
}

func TestAPanicNamesItsPlace(t *testing.T) {
	c, _ := cached(writerFunc(func([]byte) (int, error) { panic("nobody thought of this") }), pod("coast", "bell", runs(time.Now())))
	defer c.queue.ShutDown()
	assert.Regexp(t, `(?s)^reconcile panicked: nobody thought of this\n.*reconcile_test.go`, c.reconcile(t.Context(), "coast").Error())
}

func TestWhatAPodAdds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		at := func(second int) time.Time { return began.Add(time.Duration(second) * time.Second) }
		status := func(phase corev1.PodPhase, containers ...corev1.ContainerStatus) corev1.PodStatus {
			return corev1.PodStatus{Phase: phase, StartTime: new(metav1.NewTime(at(100))), ContainerStatuses: containers}
		}
		initialised := func(phase corev1.PodPhase, init corev1.ContainerStatus, containers ...corev1.ContainerStatus) corev1.PodStatus {
			s := status(phase, containers...)
			s.InitContainerStatuses = []corev1.ContainerStatus{init}
			return s
		}
		wait(200 * time.Second)
		for name, tc := range map[string]struct {
			status corev1.PodStatus
			want   float64
		}{
			"pending, not on a node":           {corev1.PodStatus{Phase: corev1.PodPending}, 0},
			"pending, on a node":               {status(corev1.PodPending), 100},
			"running":                          {status(corev1.PodRunning), 100},
			"running, one container has ended": {status(corev1.PodRunning, finished(at(120)), corev1.ContainerStatus{}), 100},
			"all ended, but they start again":  {status(corev1.PodRunning, finished(at(120))), 100},
			"succeeded: the last one counts":   {status(corev1.PodSucceeded, finished(at(120)), finished(at(150)), finished(at(130))), 50},
			"failed":                           {status(corev1.PodFailed, finished(at(120))), 20},
			"failed while it was initialised":  {initialised(corev1.PodFailed, finished(at(110)), corev1.ContainerStatus{}), 10},
			"a sidecar ended last":             {initialised(corev1.PodSucceeded, finished(at(140)), finished(at(120))), 40},
			"failed, and nothing says when":    {status(corev1.PodFailed), 0},
			"refused by its node":              {corev1.PodStatus{Phase: corev1.PodFailed}, 0},
			"the clock was set back meanwhile": {status(corev1.PodSucceeded, finished(at(60))), 0},
			"its node's clock is ahead":        {runs(at(300)), 0},
			"it ended in our future":           {succeeded(at(190), at(220)), 30},
		} {
			whole := pod("coast", "bell", tc.status)
			trimmed, err := trim(whole)
			require.NoError(t, err)
			for what, pod := range map[string]*corev1.Pod{"whole": whole, "trimmed": trimmed.(*corev1.Pod)} {
				total := course{running: 1, starts: at(190).Unix()} // of another pod
				total.add(pod, time.Now())
				assert.InDelta(t, 10+tc.want, total.Seconds(), 1e-3, "%s, %s", name, what)
			}
		}
	})
}

func TestTrim(t *testing.T) {
	whole := pod("coast", "bell", runs(time.Unix(100, 0)))
	whole.UID, whole.ResourceVersion, whole.Spec.NodeName = "1", "7", "node"
	want := pod("coast", "bell", corev1.PodStatus{Phase: corev1.PodRunning, StartTime: new(metav1.Unix(100, 0))})
	want.UID, want.ResourceVersion = "1", "7"
	tombstone := cache.DeletedFinalStateUnknown{Key: "coast/bell"}
	for obj, want := range map[any]any{whole: want, want: want, tombstone: tombstone} { // the informer may trim a pod twice
		trimmed, err := trim(obj)
		require.NoError(t, err)
		assert.Equal(t, want, trimmed)
	}
}

// A hundred thousand pods that have run for ten years are no trouble.
func TestACourseThatNoDurationHolds(t *testing.T) {
	const years = 10 * 365 * 24 * 3600
	total := course{running: 100_000, starts: 100_000 * (time.Now().Unix() - years)}
	assert.InDelta(t, 100_000.0*years, total.Seconds(), 300_000)
}

func TestMetricsAndHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := cached(io.Discard, pod("coast", "bell", runs(time.Now())), pod("coast", "buoy", runs(time.Now())))
		defer c.queue.ShutDown()
		synced := false
		handler := c.handler(func() bool { return synced })
		get := func(path string) string {
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			return fmt.Sprint(response.Code, " ", response.Body)
		}
		assert.Equal(t, "503 the cache has not synced yet\n", get("/healthz"))
		synced = true
		assert.Equal(t, "200 ", get("/healthz"))

		require.NoError(t, c.reconcile(t.Context(), "coast"))
		wait(1500 * time.Millisecond)
		body := get("/metrics")
		assert.Contains(t, body, `pod_runtime_seconds{namespace="coast"} 3`+"\n", "it grows without events")
		for _, name := range []string{"depth", "retries_total", "queue_duration_seconds_count"} {
			assert.Contains(t, body, fmt.Sprintf(`workqueue_%s{name="podruntime"}`, name))
		}
	})
}
