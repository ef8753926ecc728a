package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
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
	c := shared(t)
	create(t, c.Client, "coast", "bell")
	setStatus(t, c.Client, "coast", "bell", runs(time.Now().Add(-time.Hour)))
	create(t, c.Client, "harbour", "buoy")
	setStatus(t, c.Client, "harbour", "buoy", runs(time.Now()))
	var requests atomic.Int32
	config := rest.CopyConfig(c.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { requests.Add(1); return next.RoundTrip(r) })
	})
	var out testcluster.Output
	p := begin(t, config, &out, "coast")

	printed := func() bool { return strings.Contains(out.String(), "\n") }
	require.Eventually(t, printed, testcluster.TestTimeout, 10*time.Millisecond)
	assert.Regexp(t, `^Pods in namespace coast have been running for 6\d\.\d\d minutes\.\n$`, out.Take())
	setStatus(t, c.Client, "coast", "bell", runs(time.Now().Add(-2*time.Hour)))
	require.Eventually(t, printed, testcluster.TestTimeout, 10*time.Millisecond)
	assert.Regexp(t, `^Pods in namespace coast have been running for 12\d\.\d\d minutes\.\n$`, out.Take())
	assert.EqualValues(t, 1, requests.Load(), "one request at the start, and none for an event")

	_, health := p.get("healthz")
	assert.Equal(t, "ok\n", health)
	_, metrics := p.get("metrics")
	assert.Contains(t, metrics, `pod_runtime_seconds{namespace="coast"}`)
	assert.NotContains(t, metrics, "harbour", "it watches one namespace")
	for _, name := range []string{"depth", "retries_total", "queue_duration_seconds_count"} {
		assert.Contains(t, metrics, fmt.Sprintf(`workqueue_%s{name="podruntime"}`, name))
	}
	require.NoError(t, p.stop())
}

func TestUnhealthyUntilTheCacheHasSynced(t *testing.T) {
	p := begin(t, &rest.Config{Host: "http://127.0.0.1:1"}, io.Discard, "")
	code, body := p.get("healthz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Equal(t, "the cache has not synced yet\n", body)
	require.NoError(t, p.stop(), "it can be stopped before its cache is full")
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

// Each test from here on breaks something while pods come, run, end and go. In the end the metric
// must be the sum over the pods that the server has.

func TestTheServerIsKilled(t *testing.T) {
	c := testcluster.Start(t)
	createNamespaces(t, c.Client)
	p := begin(t, c.Config, io.Discard, "")
	churn(t, c.Client, func(step int) {
		if step == 60 || step == 140 {
			c.KillServer(t)
		}
	})
	p.agreesWith(c.Client)
}

func TestTheConnectionIsDropped(t *testing.T) {
	c := shared(t)
	proxy, through := testcluster.StartProxy(t, c.Config)
	p := begin(t, through, io.Discard, "")
	churn(t, c.Client, func(step int) {
		if step%10 == 0 {
			proxy.Cut()
		}
	})
	p.agreesWith(c.Client)
}

// Without its cache, the API server forwards a watch to etcd, which has nothing from before a
// compaction. The deletions that happened meanwhile arrive as tombstones.
func TestTheVersionIsGone(t *testing.T) {
	c := testcluster.Start(t, "watch-cache-sizes=pods#0")
	createNamespaces(t, c.Client)
	proxy, through := testcluster.StartProxy(t, c.Config)
	p := begin(t, through, io.Discard, "")
	churn(t, c.Client, func(step int) {
		switch step {
		case 60:
			proxy.Refuse()
		case 180:
			compact(t, c)
			proxy.Allow()
		}
	})
	p.agreesWith(c.Client)
}

func TestTheOutputPanics(t *testing.T) {
	c := shared(t)
	var calls atomic.Int32
	p := begin(t, c.Config, writerFunc(func(line []byte) (int, error) {
		if calls.Add(1)%3 == 0 {
			panic("nobody thought of this")
		}
		return len(line), nil
	}), "")
	churn(t, c.Client, func(int) {})
	p.agreesWith(c.Client)
}

func TestPodsChangeWhileItIsDown(t *testing.T) {
	c := shared(t)
	p := begin(t, c.Config, io.Discard, "")
	churn(t, c.Client, func(step int) {
		switch step {
		case 60:
			require.NoError(t, p.stop())
		case 140:
			p = begin(t, c.Config, io.Discard, "")
		}
	})
	p.agreesWith(c.Client)
}

// program is podruntime as it runs.
type program struct {
	t       *testing.T
	address string
	stop    func() error // and wait
}

func begin(t *testing.T, config *rest.Config, out io.Writer, namespace string) *program {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &program{t: t, address: free.Addr().String()}
	require.NoError(t, free.Close())
	ctx, cancel := context.WithCancel(t.Context())
	var ended error
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended = run(ctx, config, out, options{namespace: namespace, workers: 2, listen: p.address})
	}()
	p.stop = func() error {
		cancel()
		select {
		case <-done:
			return ended
		case <-time.After(testcluster.TestTimeout):
			return errors.New("the program does not end with its context")
		}
	}
	t.Cleanup(func() { assert.NoError(t, p.stop()) })
	return p
}

// get waits until the program answers.
func (p *program) get(path string) (code int, body string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	require.Eventually(p.t, func() bool {
		response, err := client.Get("http://" + p.address + "/" + path)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		code, body = response.StatusCode, string(content)
		return err == nil
	}, testcluster.TestTimeout, 10*time.Millisecond)
	return code, body
}

// agreesWith waits until the metric is the plain sum over the pods that the server has.
func (p *program) agreesWith(client kubernetes.Interface) {
	p.t.Helper()
	pods, err := client.CoreV1().Pods("").List(p.t.Context(), metav1.ListOptions{})
	require.NoError(p.t, err)
	require.Len(p.t, pods.Items, 50)
	var least, got, most map[string]float64
	if !assert.Eventually(p.t, func() bool {
		least = plainSum(pods.Items)
		_, metrics := p.get("metrics")
		most, got = plainSum(pods.Items), map[string]float64{}
		for line := range strings.Lines(metrics) {
			if rest, ok := strings.CutPrefix(line, `pod_runtime_seconds{namespace="`); ok {
				namespace, value, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
				got[namespace], _ = strconv.ParseFloat(value, 64)
			}
		}
		for namespace := range least {
			if got[namespace] < least[namespace]-0.1 || got[namespace] > most[namespace]+0.1 {
				return false
			}
		}
		return len(got) == len(least)
	}, testcluster.TestTimeout, 20*time.Millisecond) {
		assert.Equal(p.t, least, got)
	}
}

// plainSum is for how long the pods have been running by now, one addition for each.
func plainSum(pods []corev1.Pod) map[string]float64 {
	sums := map[string]float64{}
	for _, pod := range pods {
		switch start := pod.Status.StartTime; {
		case start == nil:
		case pod.Status.Phase == corev1.PodSucceeded:
			sums[pod.Namespace] += pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Sub(start.Time).Seconds()
		default:
			sums[pod.Namespace] += time.Since(start.Time).Seconds()
		}
	}
	return sums
}

var namespaces = []string{"coast", "harbour", "open-sea"}

// churn makes 60 pods. They begin to run, end, are deleted and come back, each as far as its number says.
// It calls after each of 210 steps, and goes on while the API server is away.
func churn(t *testing.T, client kubernetes.Interface, after func(step int)) {
	t.Helper()
	step := 0
	for i := range 60 {
		namespace, name := namespaces[i%len(namespaces)], fmt.Sprintf("pod-%02d", i)
		start := time.Now().Add(-time.Duration(i+1) * time.Minute)
		life := []func(){
			func() { create(t, client, namespace, name) },
			func() { setStatus(t, client, namespace, name, runs(start)) },
			func() { setStatus(t, client, namespace, name, succeeded(start, start.Add(time.Minute))) },
			func() { remove(t, client, namespace, name) },
			func() { create(t, client, namespace, name) },
			func() { setStatus(t, client, namespace, name, runs(start.Add(time.Second))) },
		}
		for _, write := range life[:i%len(life)+1] {
			write()
			step++
			after(step)
		}
	}
}

// again repeats a write until the server has taken it. It may have taken an earlier one, and died
// before it answered.
func again(t *testing.T, write func(context.Context) error) {
	t.Helper()
	require.Eventually(t, func() bool { return write(t.Context()) == nil }, testcluster.TestTimeout, 20*time.Millisecond)
}

func create(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	again(t, func(ctx context.Context) error {
		pod := pod(namespace, name)
		pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
		_, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

func setStatus(t *testing.T, client kubernetes.Interface, namespace, name string, status corev1.PodStatus) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	require.NoError(t, err)
	again(t, func(ctx context.Context) error {
		_, err := client.CoreV1().Pods(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
}

func remove(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	again(t, func(ctx context.Context) error {
		err := client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// shared is the cluster that tests share. Podruntime watches all namespaces, so no test leaves a pod behind.
func shared(t *testing.T) *testcluster.Cluster {
	t.Helper()
	c := testcluster.Shared(t)
	createNamespaces(t, c.Client)
	t.Cleanup(func() {
		for _, name := range namespaces {
			assert.NoError(t, c.Client.CoreV1().Pods(name).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		}
	})
	return c
}

func createNamespaces(t testing.TB, client kubernetes.Interface) {
	t.Helper()
	for _, name := range namespaces {
		_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			require.NoError(t, err)
		}
	}
}

// compact makes etcd forget everything but the present.
func compact(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	list, err := c.Client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	body := fmt.Sprintf(`{"revision": %q, "physical": true}`, list.ResourceVersion)
	address := c.ControlPlane.Etcd.URL.JoinPath("v3/kv/compaction").String()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
