package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// BenchmarkAnEvent measures how long it takes from an event to its line, with 100,000 pods in the cache:
// the median of many, with the informer and the queue, and without the API server. Run it with
// `make bench-4`.
func BenchmarkAnEvent(b *testing.B) {
	klog.SetLogger(logr.Discard())
	const pods = 100_000
	table := []string{fmt.Sprintf("%-34s %10s", "100,000 pods", "µs/event")}
	for _, namespaces := range []int{1000, 100, 10, 1} {
		for _, form := range []struct {
			name string
			make func(corelisters.PodLister, io.Writer) (*controller, cache.ResourceEventHandler)
		}{{"the sum of reconcile", plain}, {"a derived sum", derived}} {
			name := fmt.Sprintf("%-20s in %4d namespaces", form.name, namespaces)
			b.Run(name, func(b *testing.B) {
				lines := make(writerChan, namespaces) // what is there at the start
				events := begun(b, pods, namespaces, lines, form.make)
				for range namespaces {
					<-lines
				}
				var times []time.Duration
				for i := pods; b.Loop(); i++ {
					event := lean(i, pods, namespaces)
					sent := time.Now()
					events.Modify(event)
					times = append(times, (<-lines).Sub(sent))
				}
				slices.Sort(times)
				median := float64(times[len(times)/2].Nanoseconds()) / 1000
				b.ReportMetric(median, "µs/event")
				b.ReportMetric(0, "ns/op") // with the making of the event: means nothing
				table = append(table, fmt.Sprintf("%-34s %10.1f", name, median))
			})
		}
	}
	fmt.Printf("\n%s\n\n", strings.Join(table, "\n"))
}

// writerChan is an output that notes when it gets a line.
type writerChan chan time.Time

func (w writerChan) Write(line []byte) (int, error) { w <- time.Now(); return len(line), nil }

// begun runs the controller on a cache with so many pods, and returns a watch for their changes.
func begun(b *testing.B, pods, namespaces int, out io.Writer, form func(corelisters.PodLister, io.Writer) (*controller, cache.ResourceEventHandler)) *watch.RaceFreeFakeWatcher {
	list := &corev1.PodList{Items: make([]corev1.Pod, pods)}
	for i := range list.Items {
		list.Items[i] = *lean(i, pods, namespaces)
	}
	events := watch.NewRaceFreeFake()
	client := fake.NewClientset()
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, apiruntime.Object, error) { return true, list, nil })
	client.PrependWatchReactor("pods", clienttesting.DefaultWatchReactor(events, nil))
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(trim))
	informer := factory.Core().V1().Pods()
	c, handler := form(informer.Lister(), out)
	handled, err := informer.Informer().AddEventHandler(handler)
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	var running sync.WaitGroup
	running.Go(func() { c.run(ctx, 2, c.reconcile, handled.HasSyncedChecker()) })
	b.Cleanup(func() { cancel(); running.Wait(); factory.Shutdown() })
	return events
}

// plain is the program as it is.
func plain(pods corelisters.PodLister, out io.Writer) (*controller, cache.ResourceEventHandler) {
	c := newController(pods, out)
	return c, cache.ResourceEventHandlerFuncs{AddFunc: c.enqueue, UpdateFunc: func(_, pod any) { c.enqueue(pod) }, DeleteFunc: c.enqueue}
}

// derived is what the lesson calls a sum that is kept for speed: a handler that does the work. It's given to
// reconcile as a pod that ended, so that the rest is as in the program.
func derived(_ corelisters.PodLister, out io.Writer) (*controller, cache.ResourceEventHandler) {
	sums := &sums{courses: map[string]course{}}
	c := newController(sums, out)
	return c, cache.ResourceEventHandlerFuncs{
		AddFunc: func(pod any) { sums.replace(nil, pod.(*corev1.Pod)); c.enqueue(pod) },
		UpdateFunc: func(was, is any) {
			sums.replace(was.(*corev1.Pod), is.(*corev1.Pod))
			c.enqueue(is)
		},
	}
}

type sums struct {
	corelisters.PodLister
	mu      sync.Mutex
	courses map[string]course
}

// replace takes out what a pod was, and puts in what it is.
func (s *sums) replace(was, is *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.courses[is.Namespace]
	if was != nil {
		var before course
		before.add(was, time.Now())
		sum = course{sum.running - before.running, sum.starts - before.starts, sum.ended - before.ended}
	}
	sum.add(is, time.Now())
	s.courses[is.Namespace] = sum
}

func (s *sums) Pods(namespace string) corelisters.PodNamespaceLister {
	return one{sums: s, namespace: namespace}
}

type one struct {
	corelisters.PodNamespaceLister
	sums      *sums
	namespace string
}

func (o one) List(labels.Selector) ([]*corev1.Pod, error) {
	o.sums.mu.Lock()
	defer o.sums.mu.Unlock()
	return []*corev1.Pod{pod(o.namespace, "all", succeeded(time.Unix(0, 0), time.Unix(o.sums.courses[o.namespace].starts, 0)))}, nil
}

// lean is what is written ith, to one of so many pods in turn. Each time, it runs since another second.
func lean(i, pods, namespaces int) *corev1.Pod {
	pod := pod(fmt.Sprintf("namespace-%04d", i%pods%namespaces), fmt.Sprintf("checkout-service-6f7c9d8b5d-%06d", i%pods),
		runs(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i)*time.Second)))
	pod.UID, pod.ResourceVersion = types.UID(fmt.Sprintf("0c2a5c7e-5c2e-4b7e-9f43-%012d", i%pods)), strconv.Itoa(i+1)
	return pod
}

// BenchmarkAPod measures what pods of 4 KiB take in a cache, whole and trimmed.
func BenchmarkAPod(b *testing.B) {
	const pods = 20_000
	for name, transform := range map[string]cache.TransformFunc{
		"whole":   func(pod any) (any, error) { return pod, nil },
		"trimmed": trim,
	} {
		b.Run(name, func(b *testing.B) {
			var perPod, rounds float64
			for b.Loop() {
				before := heap()
				indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
				for i := range pods {
					pod, err := transform(decoded(b, i, pods))
					require.NoError(b, err)
					require.NoError(b, indexer.Add(pod))
				}
				perPod += float64(heap()-before) / pods
				rounds++
				runtime.KeepAlive(indexer)
			}
			b.ReportMetric(perPod/rounds, "B/pod")
			b.ReportMetric(0, "ns/op") // means nothing here
		})
	}
}

// decoded is a pod as it comes from the wire, where its strings share no memory with other pods.
func decoded(b *testing.B, i, pods int) *corev1.Pod {
	pod := lean(i, pods, 100)
	pod.Labels = map[string]string{"app.kubernetes.io/name": "checkout-service", "app.kubernetes.io/part-of": "shop", "pod-template-hash": "6f7c9d8b5d"}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "checkout-service-6f7c9d8b5d", UID: pod.UID}}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(strings.Repeat("f", 2000))}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example.com/shop/checkout-service:v1.42.3", Args: []string{"--listen=:8080", "--log-level=info"}}}
	pod.Spec.Volumes = make([]corev1.Volume, 2)
	for _, condition := range []corev1.PodConditionType{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: *pod.Status.StartTime})
	}
	content, err := pod.Marshal()
	require.NoError(b, err)
	var decoded corev1.Pod
	require.NoError(b, decoded.Unmarshal(content))
	return &decoded
}

// heap is what is in use when all garbage has been collected.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one let go of
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
