package podruntime

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/testcluster"
)

// Each test here breaks something while the pods of three namespaces come, run, end and
// go on a real API server. In the end the totals must be those of the pods that the
// server has.

func TestTheServerIsKilled(t *testing.T) {
	c := testcluster.Start(t)
	createNamespaces(t, c.Client, churned...)
	r := background(t, c.Client, &testcluster.Output{})
	churn(t, c.Client, func(done int) {
		if done == 300 || done == 700 {
			c.KillServer(t)
		}
	})
	r.agreesWith(t, c.Client)
}

func TestTheConnectionIsDropped(t *testing.T) {
	c := shared(t, churned...)
	proxy, through := testcluster.StartProxy(t, c.Config)
	r := background(t, kubernetes.NewForConfigOrDie(through), &testcluster.Output{})
	churn(t, c.Client, func(done int) {
		if done%50 == 0 {
			proxy.Cut()
		}
	})
	r.agreesWith(t, c.Client)
}

func TestTheVersionIsGone(t *testing.T) {
	// Without its cache, the API server forwards a watch to etcd, which has nothing
	// from before a compaction.
	c := testcluster.Start(t, "watch-cache-sizes=pods#0")
	createNamespaces(t, c.Client, churned...)
	proxy, through := testcluster.StartProxy(t, c.Config)
	r := background(t, kubernetes.NewForConfigOrDie(through), &testcluster.Output{})
	churn(t, c.Client, func(done int) {
		switch done {
		case 300:
			proxy.Refuse()
		case 900:
			compact(t, c)
			proxy.Allow()
		}
	})
	r.agreesWith(t, c.Client)
}

func TestTheOutputPanics(t *testing.T) {
	c := shared(t, churned...)
	var calls atomic.Int32
	var out testcluster.Output
	r := background(t, c.Client, writerFunc(func(p []byte) (int, error) {
		if calls.Add(1)%3 == 0 {
			panic("nobody thought of this")
		}
		return out.Write(p)
	}))
	churn(t, c.Client, func(int) {})
	r.agreesWith(t, c.Client)
}

func TestPodsChangeWhileItIsDown(t *testing.T) {
	c := shared(t, churned...)
	r := background(t, c.Client, &testcluster.Output{})
	churn(t, c.Client, func(done int) {
		switch done {
		case 300:
			r.stop()
		case 700:
			r = background(t, c.Client, &testcluster.Output{})
		}
	})
	r.agreesWith(t, c.Client)
}

// To stop while the first pods arrive must end everything: goleak checks that.
func TestStopInTheMiddleOfTheFirstSync(t *testing.T) {
	c := shared(t, churned...)
	churn(t, c.Client, func(int) {})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var arrived atomic.Int32
	var out testcluster.Output
	r, err := newRuntimes(c.Client, metav1.NamespaceAll, func(p *corev1.Pod) life {
		if arrived.Add(1) == 50 {
			cancel()
		}
		return sinceStart(p)
	}, &out)
	require.NoError(t, err)
	work(ctx, r)
	assert.True(t, r.informer.IsStopped(), "the informer was waited for")
	assert.GreaterOrEqual(t, arrived.Load(), int32(50))
	require.Error(t, r.ready(), "it did not sync")
	assert.Empty(t, out.Take(), "so it printed nothing")
}

// To stop while a line is being printed lets that line be finished.
func TestStopInTheMiddleOfALine(t *testing.T) {
	c := shared(t, "coast")
	require.NoError(t, podWriter{c.Client, "coast", "bell"}.create(t.Context()))
	var out testcluster.Output
	writing, stopping := make(chan struct{}), make(chan struct{})
	r := background(t, c.Client, writerFunc(func(p []byte) (int, error) {
		close(writing)
		<-stopping
		return out.Write(p)
	}))
	<-writing
	r.cancel()
	close(stopping)
	r.stop()
	assert.Equal(t, "Pods in namespace coast have been running for 0.00 minutes.\n", out.Take())
}

// compact makes etcd forget everything but the present.
func compact(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	list, err := c.Client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	body := fmt.Sprintf(`{"revision": %q, "physical": true}`, list.ResourceVersion)
	address := c.ControlPlane.Etcd.URL.JoinPath("v3/kv/compaction")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address.String(), strings.NewReader(body))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// running is a podruntime that runs until it is stopped, or the test ends.
type running struct {
	*runtimes
	cancel context.CancelFunc
	stop   func() // and wait
}

func background(t *testing.T, client kubernetes.Interface, out io.Writer) *running {
	t.Helper()
	r, err := newRuntimes(client, metav1.NamespaceAll, sinceStart, out)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx, r)
	}()
	stop := func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return &running{r, cancel, stop}
}

// agreesWith waits until the totals, and the metric, are the sums over the pods
// that the server has.
func (r *running) agreesWith(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, pods.Items, 250)
	now := time.Now()
	want := naive(pods.Items, now)
	if !assert.Eventually(t, func() bool { return maps.EqualFunc(want, r.totals.all(now), near) }, testcluster.TestTimeout, 20*time.Millisecond) {
		assert.Equal(t, want, r.totals.all(now))
	}
	// While the metric is read, time goes on, and the more so on a busy machine.
	least := naive(pods.Items, time.Now())
	got := scrape(t, &collector{r.totals, r.ready})
	most := naive(pods.Items, time.Now())
	assert.Len(t, got, len(want))
	for namespace, seconds := range got {
		assert.GreaterOrEqual(t, seconds, least[namespace]-0.001, namespace)
		assert.LessOrEqual(t, seconds, most[namespace]+0.001, namespace)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 0.001 }
