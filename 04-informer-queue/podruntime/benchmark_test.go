package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/testcluster"
)

// perNamespace is how many pods a namespace has. PODS is how many there are in all: PODS=100000 makes a hundred
// namespaces; it has to be a multiple of 1000.
const perNamespace = 1000

// BenchmarkAPod measures, on a real API server, how many bytes a pod takes in the cache, whole and trimmed, and how
// long it takes from the request that changes a pod to the line with the new sum. Run it with `make bench-4`.
func BenchmarkAPod(b *testing.B) {
	pods, err := strconv.Atoi(cmp.Or(os.Getenv("PODS"), "10000"))
	require.NoError(b, err)
	c := testcluster.Start(b)
	config := rest.CopyConfig(c.Config)
	config.QPS = -1 // no limit in the client
	client, err := kubernetes.NewForConfig(config)
	require.NoError(b, err)
	fill(b, client, pods)

	for name, transform := range map[string]cache.TransformFunc{
		"whole":   func(pod any) (any, error) { return pod, nil },
		"trimmed": trim,
	} {
		b.Run(fmt.Sprintf("bytes/%d %s", pods, name), func(b *testing.B) {
			for b.Loop() {
				before := heap()
				ctx, cancel := context.WithCancel(b.Context())
				factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(transform))
				informer := factory.Core().V1().Pods().Informer()
				factory.StartWithContext(ctx)
				require.True(b, cache.WaitFor(ctx, "", informer.HasSyncedChecker()))
				b.ReportMetric(float64(heap()-before)/float64(pods), "B/pod")
				b.ReportMetric(0, "ns/op") // means nothing here
				runtime.KeepAlive(informer)
				cancel()
				factory.Shutdown()
			}
		})
	}
	b.Run(fmt.Sprintf("event/%d", pods), func(b *testing.B) {
		lines := make(chan time.Time, pods)
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- run(ctx, config, writerFunc(func(line []byte) (int, error) { lines <- time.Now(); return len(line), nil }), options{workers: 2})
		}()
		for range pods / perNamespace {
			<-lines
		}
		var writes, toLine []time.Duration
		began := time.Now()
		for i := 0; b.Loop(); i++ { // each time, a pod runs since another second
			sent := time.Now()
			setStatus(b, client, namespace(i%pods), podName(i%pods), runs(began.Add(-time.Duration(i+1)*time.Second)))
			writes = append(writes, time.Since(sent))
			toLine = append(toLine, (<-lines).Sub(sent))
		}
		b.ReportMetric(median(writes), "ms/write")
		b.ReportMetric(median(toLine), "ms/line")
		b.ReportMetric(0, "ns/op") // the mean of both: means nothing
		cancel()
		require.NoError(b, <-ended)
	})
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

func namespace(i int) string { return fmt.Sprintf("namespace-%04d", i/perNamespace) }
func podName(i int) string   { return fmt.Sprintf("checkout-service-6f7c9d8b5d-%06d", i) }

// fill writes pods that are as large as real ones, some 4 KiB.
func fill(b *testing.B, client kubernetes.Interface, pods int) {
	for i := 0; i < pods; i += perNamespace {
		createNamespaces(b, client, namespace(i))
	}
	var writing errgroup.Group
	writing.SetLimit(50)
	for i := range pods {
		writing.Go(func() error {
			large := pod(namespace(i), podName(i))
			large.Labels = map[string]string{"app.kubernetes.io/name": "checkout-service", "app.kubernetes.io/part-of": "shop", "pod-template-hash": "6f7c9d8b5d"}
			large.Annotations = map[string]string{"example.com/manifest": strings.Repeat("m", 2000)}
			large.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "checkout-service-6f7c9d8b5d", UID: "0c2a5c7e"}}
			large.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example.com/shop/checkout-service:v1.42.3", Args: []string{"--listen=:8080", "--log-level=info"}}}
			created, err := client.CoreV1().Pods(large.Namespace).Create(b.Context(), large, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			created.Status = runs(time.Now())
			for _, condition := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
				created.Status.Conditions = append(created.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue})
			}
			_, err = client.CoreV1().Pods(large.Namespace).UpdateStatus(b.Context(), created, metav1.UpdateOptions{})
			return err
		})
	}
	require.NoError(b, writing.Wait())
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}

// heap is what is in use when all garbage has been collected.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one let go of
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
