package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/testcluster"
)

// BenchmarkAPod measures, on a real API server, how many bytes a pod takes in the cache, whole and trimmed. PODS is how
// many there are. Run it with `make bench-4`.
func BenchmarkAPod(b *testing.B) {
	pods, err := strconv.Atoi(cmp.Or(os.Getenv("PODS"), "10000"))
	require.NoError(b, err)
	c := testcluster.Start(b)
	fill(b, c.Client, pods)

	for name, transform := range map[string]cache.TransformFunc{
		"whole":   func(pod any) (any, error) { return pod, nil },
		"trimmed": trim,
	} {
		b.Run(fmt.Sprintf("bytes/%d %s", pods, name), func(b *testing.B) {
			for b.Loop() {
				before := testcluster.Heap()
				ctx, cancel := context.WithCancel(b.Context())
				factory := informers.NewSharedInformerFactoryWithOptions(c.Client, 0, informers.WithTransform(transform))
				informer := factory.Core().V1().Pods().Informer()
				factory.StartWithContext(ctx)
				require.True(b, cache.WaitFor(ctx, "", informer.HasSyncedChecker()))
				b.ReportMetric(float64(testcluster.Heap()-before)/float64(pods), "B/pod")
				b.ReportMetric(0, "ns/op") // means nothing here
				runtime.KeepAlive(informer)
				cancel()
				factory.Shutdown()
			}
		})
	}
}

// BenchmarkASum measures one reconcile, without an API server: the sum over so many pods, and the sum that is kept
// for speed, by a handler that takes out what a pod was and puts in what it is.
func BenchmarkASum(b *testing.B) {
	began := time.Now().Add(-time.Hour)
	for _, pods := range []int{100, 1_000, 10_000, 100_000} {
		c, indexer := cached(io.Discard)
		b.Cleanup(c.queue.ShutDown)
		for i := range pods {
			require.NoError(b, indexer.Add(pod("coast", podName(i), runs(began))))
		}
		b.Run(fmt.Sprintf("reconcile/%d pods", pods), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, c.reconcile(b.Context(), "coast"))
			}
		})
	}
	b.Run("derived", func(b *testing.B) {
		was, is := pod("coast", "bell", runs(began)), pod("coast", "bell", runs(began.Add(time.Second)))
		sums := map[string]course{"coast": {}}
		for b.Loop() {
			var before course
			before.add(was, time.Now())
			sum := sums["coast"]
			sum = course{sum.running - before.running, sum.starts - before.starts, sum.ended - before.ended}
			sum.add(is, time.Now())
			sums["coast"], was, is = sum, is, was
		}
	})
}

func podName(i int) string { return fmt.Sprintf("checkout-service-6f7c9d8b5d-%06d", i) }

// fill writes pods that are as large as real ones, some 4 KiB.
func fill(b *testing.B, client kubernetes.Interface, pods int) {
	_, err := client.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{})
	require.NoError(b, err)
	var writing errgroup.Group
	writing.SetLimit(50)
	for i := range pods {
		writing.Go(func() error {
			large := pod("shop", podName(i), runs(time.Now()))
			large.Labels = map[string]string{"app.kubernetes.io/name": "checkout-service", "app.kubernetes.io/part-of": "shop", "pod-template-hash": "6f7c9d8b5d"}
			large.Annotations = map[string]string{"example.com/manifest": strings.Repeat("m", 2000)}
			large.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "checkout-service-6f7c9d8b5d", UID: "0c2a5c7e"}}
			for _, condition := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
				large.Status.Conditions = append(large.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue})
			}
			large.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example.com/shop/checkout-service:v1.42.3", Args: []string{"--listen=:8080", "--log-level=info"}}}
			status := large.Status
			created, err := client.CoreV1().Pods("shop").Create(b.Context(), large, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			created.Status = status
			_, err = client.CoreV1().Pods("shop").UpdateStatus(b.Context(), created, metav1.UpdateOptions{})
			return err
		})
	}
	require.NoError(b, writing.Wait())
}
