package podruntime

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// benchmarkHeap measures what 10,000 pods of 4 KiB take in the memory of a
// program that has them in its cache, and prints a table.
func benchmarkHeap(b *testing.B, client kubernetes.Interface, namespace string, pods int) {
	var table []string
	for _, form := range []struct {
		name  string
		start func(context.Context, testing.TB, kubernetes.Interface, string) (wait func())
	}{
		{"corev1.Pod, whole", informer(nil)},
		{"corev1.Pod, transformed", informer(trimTyped)},
		{"podruntime.pod", lean},
	} {
		b.Run("heap/"+form.name, func(b *testing.B) {
			var perPod, rounds float64
			for b.Loop() {
				before := heap()
				ctx, cancel := context.WithCancel(b.Context())
				wait := form.start(ctx, b, client, namespace)
				perPod += float64(heap()-before) / float64(pods)
				rounds++
				cancel()
				wait()
			}
			b.ReportMetric(perPod/rounds, "B/pod")
			b.ReportMetric(0, "ns/op") // means nothing here
			table = append(table, fmt.Sprintf("%-25s %8.0f", form.name, perPod/rounds))
		})
	}
	fmt.Printf("\n%-25s %8s\n", "in the cache", "B/pod")
	for _, row := range table {
		fmt.Println(row)
	}
	fmt.Println()
}

// heap is what is in use when all garbage has been collected.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one let go of
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// lean is podruntime as it is, with its totals.
func lean(ctx context.Context, t testing.TB, client kubernetes.Interface, namespace string) (wait func()) {
	r, err := newRuntimes(client, namespace, sinceStart, io.Discard)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx, r)
	}()
	require.True(t, cache.WaitFor(ctx, "", r.handled.HasSyncedChecker()))
	return func() { <-done }
}

// informer has corev1.Pods in its cache.
func informer(transform cache.TransformFunc) func(context.Context, testing.TB, kubernetes.Interface, string) func() {
	return func(ctx context.Context, t testing.TB, client kubernetes.Interface, namespace string) (wait func()) {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
			informers.WithNamespace(namespace), informers.WithTransform(transform))
		factory.Core().V1().Pods().Informer()
		factory.StartWithContext(ctx)
		require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
		return factory.Shutdown
	}
}

// trimTyped keeps of a pod what podruntime needs, but in a corev1.Pod. It has
// room for everything else that a pod may have, and that room is kept, too.
func trimTyped(object any) (any, error) {
	whole, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	trimmed := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: whole.Namespace, Name: whole.Name, UID: whole.UID, ResourceVersion: whole.ResourceVersion,
		},
		Status: corev1.PodStatus{Phase: whole.Status.Phase, StartTime: whole.Status.StartTime},
	}
	if trimmed.Status.Phase == corev1.PodSucceeded || trimmed.Status.Phase == corev1.PodFailed {
		trimmed.Status.ContainerStatuses = whole.Status.ContainerStatuses
	}
	return trimmed, nil
}
