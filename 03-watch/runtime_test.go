package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"example.com/hacking-a-controller/03-watch/cli"
	"example.com/hacking-a-controller/testcluster"
)

func TestRunningTime(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("elsewhere", -3*60*60))
	created := func(ago time.Duration) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-ago).UTC())}}
	}
	seconds := func(pods ...corev1.Pod) float64 { return runningSeconds(pods, now) }
	assert.InDelta(t, 150, seconds(created(time.Minute), created(90*time.Second)), 0)
	assert.InDelta(t, 60, seconds(created(time.Minute), created(-time.Hour)), 0, "the server's clock is ahead")
	assert.Zero(t, seconds())
	const years = 200 * 365 * 24 * time.Hour
	assert.InDelta(t, 2*years.Seconds(), seconds(created(years), created(years)), 0, "more than a time.Duration holds")
}

func TestAListThatFailsIsASentenceThatIsMissing(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no answer")
	})
	var out, errs bytes.Buffer
	r := &runtimes{client: client, timeout: testcluster.TestTimeout, out: &out, err: &errs, cost: &cost{}}
	require.NoError(t, r.handle(t.Context(), change{watch.Added, pod("a", 3)}), "the program goes on")
	assert.Empty(t, out.String())
	assert.Equal(t, "error: listing the pods: no answer\n", errs.String())
}

func printsCost(t *testing.T, c *testcluster.Cluster) {
	namespace := createNamespace(t, c.Client, "cost")
	createPod(t, c.Client, namespace, "a")
	createPod(t, c.Client, namespace, "b")
	// The API server's own cache has both. With the exercise back-in-time, the list comes from there.
	require.Eventually(t, func() bool {
		pods, err := c.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		return err == nil && len(pods.Items) == 2
	}, testcluster.TestTimeout, 10*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	defer cancel()
	var out, errs bytes.Buffer
	costs := writerFunc(func(p []byte) (int, error) {
		errs.Write(p)
		if strings.Count(errs.String(), "\n") == 2 {
			cancel()
		}
		return len(p), nil
	})
	require.Zero(t, cli.Run(ctx, newCommand(), []string{"runtime", "-n", namespace, "--kubeconfig", c.Kubeconfig}, &out, costs))
	assert.Regexp(t, `^(Pods in namespace `+namespace+` have been running for \d+\.\d\d minutes\.\n){2}$`, out.String())
	// The first list, and then for each of its two pods a list of two.
	assert.Equal(t, "# so far: 2 requests, 3 objects decoded\n# so far: 3 requests, 6 objects decoded\n", errs.String())
}

// BenchmarkRuntime measures what it costs to handle one event, in a namespace
// of so many pods, on a real API server. Run it with `make bench-3`.
func BenchmarkRuntime(b *testing.B) {
	c := testcluster.Start(b)
	for _, pods := range []int{100, 1000, 10000} {
		namespace := fmt.Sprintf("pods-%d", pods)
		fill(b, c.Client, namespace, pods)
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) { benchmarkHandle(b, c.Config, namespace) })
	}
}

func benchmarkHandle(b *testing.B, config *rest.Config, namespace string) {
	cost := &cost{}
	config = rest.CopyConfig(config)
	config.Wrap(cost.count)
	r := &runtimes{client: kubernetes.NewForConfigOrDie(config), timeout: testcluster.TestTimeout, out: io.Discard, err: io.Discard, cost: cost}
	event := change{watch.Modified, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pod-0"}}}
	for b.Loop() {
		if err := r.handle(b.Context(), event); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cost.requests.Load())/float64(b.N), "requests/event")
	b.ReportMetric(float64(cost.objects.Load())/float64(b.N), "objects/event")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/event")
	b.ReportMetric(0, "ns/op") // the same, less readable
}

// fill makes a namespace with so many pods.
func fill(b *testing.B, client kubernetes.Interface, namespace string, pods int) {
	b.Helper()
	_, err := client.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(b, err)
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(16)
	for i := range pods {
		group.Go(func() error {
			_, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i)},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
			}, metav1.CreateOptions{})
			return err
		})
	}
	require.NoError(b, group.Wait())
}
