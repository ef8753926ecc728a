package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/hacking-a-controller/04-informer-queue/internal/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

func TestALineIsPrintedWhenAPodChanges(t *testing.T) {
	c := testcluster.Shared(t)
	_, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) { // the test may run several times
		require.NoError(t, err)
	}
	pods := c.Client.CoreV1().Pods("harbour")
	create := func(name string) {
		container := corev1.Container{Name: "main", Image: "busybox"}
		_, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{container}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	remove := func(name string) {
		require.NoError(t, pods.Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	}

	create("bell")
	var out testcluster.Output
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- run(ctx, c.Config, &out) }()
	last := func() string { return out.Lines()[len(out.Lines())-1] }
	require.Eventually(t, func() bool { return strings.Contains(last(), "harbour") }, testcluster.TestTimeout, 10*time.Millisecond, "what was there at the start")
	printed := len(out.Lines())
	create("buoy")
	require.Eventually(t, func() bool { return len(out.Lines()) > printed }, testcluster.TestTimeout, 10*time.Millisecond)
	remove("bell")
	remove("buoy")
	assert.Eventually(t, func() bool { return last() == "Pods in namespace harbour have been running for 0.00 minutes." }, testcluster.TestTimeout, 10*time.Millisecond, "no pod is left")
	cancel()
	require.NoError(t, <-done)
}

func newController(out io.Writer, pods ...*corev1.Pod) *controller {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, pod := range pods {
		_ = indexer.Add(pod) // fails only without metadata
	}
	return &controller{
		pods:  corelisters.NewPodLister(indexer),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		out:   out,
	}
}

func pod(namespace, name string, age time.Duration) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-age))}}
}

func TestReconcileAddsUpThePodsOfOneNamespace(t *testing.T) {
	var out testcluster.Output
	c := newController(&out, pod("harbour", "bell", time.Hour), pod("harbour", "buoy", time.Hour), pod("coast", "lamp", time.Hour))
	defer c.queue.ShutDown()
	require.NoError(t, c.reconcile(t.Context(), "harbour"))
	assert.Regexp(t, `^Pods in namespace harbour have been running for 12\d\.\d\d minutes\.$`, out.Lines()[0])
}

// The key comes from a deletion that the watch has missed, and its line cannot be
// written at first. It comes all the same.
func TestAFailureIsRetried(t *testing.T) {
	c := newController(full{})
	c.enqueue(cache.DeletedFinalStateUnknown{Key: "coast/bell", Obj: pod("coast", "bell", time.Hour)})
	assert.True(t, c.processNextItem(t.Context()))
	assert.Equal(t, 1, c.queue.NumRequeues("coast"))
	var out testcluster.Output
	c.out = &out
	assert.True(t, c.processNextItem(t.Context()))
	assert.Equal(t, 0, c.queue.NumRequeues("coast"), "its failure is forgotten")
	assert.Equal(t, []string{"Pods in namespace coast have been running for 0.00 minutes."}, out.Lines())
	c.queue.ShutDown()
	assert.False(t, c.processNextItem(t.Context()))
}

// full is an output that nothing can be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
