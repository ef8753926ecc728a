package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

func TestTheWholeProgram(t *testing.T) {
	c := testcluster.Shared(t)
	createNamespaces(t, c.Client, "coast", "harbour")
	create(t, c.Client, "coast", "bell", runs(time.Now().Add(-time.Hour)))
	create(t, c.Client, "harbour", "buoy", runs(time.Now()))
	var requests atomic.Int32
	config := rest.CopyConfig(c.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) { requests.Add(1); return next.RoundTrip(r) })
	})
	var out testcluster.Output
	stop := begin(t, config, &out, "coast")
	prints := func(line string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(out.String(), "\n") }, testcluster.TestTimeout, 10*time.Millisecond)
		assert.Regexp(t, "^Pods in namespace coast have been running for "+line+" minutes\\.\n$", out.Take())
	}
	prints(`6\d\.\d\d`)
	setStatus(t, c.Client, "coast", "bell", runs(time.Now().Add(-2*time.Hour)))
	prints(`12\d\.\d\d`)
	remove(t, c.Client, "coast", "bell")
	prints(`0\.00`)
	assert.EqualValues(t, 1, requests.Load(), "one request at the start, and none for an event")
	remove(t, c.Client, "harbour", "buoy")
	stop()
}

// While something is broken, a pod ends, one goes, one is replaced by another of its name, and one comes.
func TestTheLastLineIsRightAfterEachFault(t *testing.T) {
	// Without its cache, the API server forwards a watch to etcd, which has nothing from before a compaction.
	c := testcluster.Start(t, "watch-cache-sizes=pods#0")
	proxy, through := testcluster.StartProxy(t, c.Config)
	var out testcluster.Output
	stop := begin(t, through, &out, "")
	hours := func(n int) time.Time { return time.Now().Add(-time.Duration(n) * time.Hour) }
	for namespace, fault := range map[string]struct{ begins, ends func() }{
		"connection-cut":    {proxy.Cut, func() {}},
		"server-killed":     {func() { c.KillServer(t) }, func() {}},
		"version-gone":      {proxy.Refuse, func() { compact(t, c); proxy.Allow() }},
		"program-restarted": {func() { stop() }, func() { stop = begin(t, through, &out, "") }},
	} {
		becomes := func(minutes string) {
			t.Helper()
			want := "Pods in namespace " + namespace + " have been running for " + minutes
			require.Eventually(t, func() bool {
				var last string
				for line := range strings.Lines(out.String()) {
					if strings.Contains(line, namespace) {
						last = line
					}
				}
				return strings.HasPrefix(last, want)
			}, testcluster.TestTimeout, 10*time.Millisecond, want)
		}
		createNamespaces(t, c.Client, namespace)
		create(t, c.Client, namespace, "bell", runs(hours(1000)))
		create(t, c.Client, namespace, "buoy", runs(hours(100)))
		create(t, c.Client, namespace, "lamp", runs(hours(10)))
		create(t, c.Client, namespace, "pier", runs(hours(1)))
		becomes("6666") // minutes, of 1,111 hours
		fault.begins()
		setStatus(t, c.Client, namespace, "buoy", succeeded(hours(100), hours(50)))
		remove(t, c.Client, namespace, "lamp")
		remove(t, c.Client, namespace, "pier")
		create(t, c.Client, namespace, "pier", runs(hours(2)))
		create(t, c.Client, namespace, "tide", runs(hours(5)))
		fault.ends()
		becomes("6342") // of 1,057
	}
	stop()
}

func TestItCanBeStoppedBeforeItsCacheIsFull(t *testing.T) {
	begin(t, &rest.Config{Host: "http://127.0.0.1:1"}, io.Discard, "")()
}

func TestAnAddressInUseIsAnError(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	c, _ := cached(io.Discard)
	defer c.queue.ShutDown()
	_, err = c.serve(taken.Addr().String(), nil)
	require.ErrorContains(t, err, "-listen: listen tcp "+taken.Addr().String()+": bind: address already in use")
}

// begin runs podruntime. The function that it returns stops it and waits.
func begin(t *testing.T, config *rest.Config, out io.Writer, namespace string) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, config, out, options{namespace: namespace, workers: 2}) }()
	return func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(testcluster.TestTimeout):
			require.FailNow(t, "the program does not end with its context")
		}
	}
}

// again repeats a write until the server has taken it. It may have taken an earlier one, and died
// before it answered.
func again(t testing.TB, write func(context.Context) error) {
	t.Helper()
	require.Eventually(t, func() bool {
		err := write(t.Context())
		return err == nil || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
	}, testcluster.TestTimeout, 20*time.Millisecond)
}

func createNamespaces(t testing.TB, client kubernetes.Interface, names ...string) {
	t.Helper()
	for _, name := range names {
		again(t, func(ctx context.Context) error {
			_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return err
		})
	}
}

// create creates a pod, and writes its status as its kubelet would.
func create(t testing.TB, client kubernetes.Interface, namespace, name string, status corev1.PodStatus) {
	t.Helper()
	again(t, func(ctx context.Context) error {
		pod := pod(namespace, name)
		pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
		_, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	setStatus(t, client, namespace, name, status)
}

func setStatus(t testing.TB, client kubernetes.Interface, namespace, name string, status corev1.PodStatus) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	require.NoError(t, err)
	again(t, func(ctx context.Context) error {
		_, err := client.CoreV1().Pods(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
}

func remove(t testing.TB, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	again(t, func(ctx context.Context) error {
		return client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
}

// compact makes etcd forget everything but the present.
func compact(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	list, err := c.Client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	body := fmt.Sprintf(`{"revision": %q, "physical": true}`, list.ResourceVersion)
	response, err := http.Post(c.ControlPlane.Etcd.URL.JoinPath("v3/kv/compaction").String(), "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}
