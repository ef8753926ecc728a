package secretsync

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

const (
	atOnce   = 8
	dataSize = 1024
)

// BenchmarkSecretSync copies 100 sources to 500 namespaces, once with a client
// that knows what to write and does nothing else, and once with secretsync. Then
// it lets secretsync reconcile everything again. SECRETSYNC_BENCH=10x50 is smaller.
func BenchmarkSecretSync(b *testing.B) {
	sources, namespaces := 100, 500
	if size := os.Getenv("SECRETSYNC_BENCH"); size != "" {
		_, err := fmt.Sscanf(size, "%dx%d", &sources, &namespaces)
		require.NoError(b, err, "SECRETSYNC_BENCH has the form 100x500")
	}
	total := int64(sources * namespaces)
	for b.Loop() {
		c := testcluster.Start(b)
		prepare(b, c, sources, namespaces)

		bare := writeBare(b, c, sources, namespaces)
		first := runUntil(b, c, 0, 2*total) // each copy is reconciled again when the watch reports it
		assert.Equal(b, total, first.writes.Load())
		resync := runUntil(b, c, 30*time.Second, 2*total) // at the start, and after 30 seconds
		assert.Zero(b, resync.writes.Load())

		copying := first.lastWrite.Sub(first.start)
		ratio := bare.Seconds() / copying.Seconds()
		b.ReportMetric(ratio, "of-bare")
		b.ReportMetric(float64(first.writes.Load()), "writes")
		fmt.Printf("\n%d sources x %d namespaces, %d at a time, %d bytes each\n", sources, namespaces, atOnce, dataSize)
		fmt.Printf("%-12s %8s %8s %9s %9s\n", "", "keys", "writes", "seconds", "keys/s")
		row := func(name string, keys, writes int64, took time.Duration) {
			fmt.Printf("%-12s %8d %8d %9.2f %9.0f\n", name, keys, writes, took.Seconds(), float64(keys)/took.Seconds())
		}
		row("bare client", total, total, bare)
		row("secretsync", total, first.writes.Load(), copying)
		row("a resync", total, resync.writes.Load(), resync.end.Sub(resync.half))
		fmt.Printf("throughput: %.2f of the bare client; memory: %d bytes for each copy in the cache\n", ratio, resync.heap/total)
	}
}

// prepare makes the sources, and as many targets for the bare client.
func prepare(b *testing.B, c *testcluster.Cluster, sources, namespaces int) {
	b.Helper()
	var group errgroup.Group
	group.SetLimit(atOnce)
	create := func(name string, annotations map[string]string) {
		group.Go(func() error {
			_, err := c.Client.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}, metav1.CreateOptions{})
			return err
		})
	}
	annotated := map[string]string{testRules.annotation: ""}
	create(testRules.sourceNamespace, nil)
	for i := range namespaces {
		create(fmt.Sprintf("sync-%03d", i), annotated)
		create(fmt.Sprintf("bare-%03d", i), nil)
	}
	require.NoError(b, group.Wait())
	for i := range sources {
		_, err := c.Client.CoreV1().Secrets(testRules.sourceNamespace).Create(b.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("source-%03d", i), Annotations: annotated},
			Data:       map[string][]byte{"key": bytes.Repeat([]byte{byte(i)}, dataSize)},
		}, metav1.CreateOptions{})
		require.NoError(b, err)
	}
}

// writeBare makes the writes that secretsync will make, elsewhere.
func writeBare(b *testing.B, c *testcluster.Cluster, sources, namespaces int) time.Duration {
	b.Helper()
	list, err := c.Client.CoreV1().Secrets(testRules.sourceNamespace).List(b.Context(), metav1.ListOptions{})
	require.NoError(b, err)
	require.Len(b, list.Items, sources)
	var trimmed []*secret
	for i := range list.Items {
		trimmed = append(trimmed, testRules.trimSource(&list.Items[i]))
	}

	start := time.Now()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for n := range namespaces {
		for _, source := range trimmed {
			group.Go(func() error {
				made := testRules.copyOf(source, fmt.Sprintf("bare-%03d", n), nil)
				made.Labels[managedBy] = "bare" // or secretsync would cache them
				_, err := c.Client.CoreV1().Secrets(made.Namespace).Create(b.Context(), made, metav1.CreateOptions{})
				return err
			})
		}
	}
	require.NoError(b, group.Wait())
	return time.Since(start)
}

// measured is what one run of secretsync did.
type measured struct {
	reconciled, writes atomic.Int64
	start, half, end   time.Time // half of the keys, all of them
	lastWrite          time.Time
	heap               int64 // in use at the end, above what was at the start
}

// runUntil runs secretsync until that many keys were reconciled.
func runUntil(b *testing.B, c *testcluster.Cluster, resync time.Duration, keys int64) *measured {
	b.Helper()
	m := &measured{}
	config := rest.CopyConfig(c.Config)
	through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if request.Method != http.MethodGet && m.writes.Add(1) == keys/2 {
			m.lastWrite = time.Now()
		}
		return response, err
	})(config)
	client := kubernetes.NewForConfigOrDie(config)

	before := heap()
	ctx, cancel := context.WithCancel(klog.NewContext(b.Context(), logr.Discard()))
	s, err := newSyncer(client, testRules, resync, io.Discard)
	require.NoError(b, err)
	finished := make(chan struct{})
	reconcile := func(ctx context.Context, key types.NamespacedName) error {
		err := s.reconcile(ctx, key)
		switch m.reconciled.Add(1) {
		case keys/2 + 1: // the first of the resync
			m.half = time.Now()
		case keys:
			m.end = time.Now()
			close(finished)
		}
		return err
	}
	m.start = time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx, s, atOnce, reconcile)
	}()
	select {
	case <-finished:
	case <-time.After(30 * time.Minute):
		assert.Fail(b, "it reconciled too few keys", "%d", m.reconciled.Load())
	}
	m.heap = heap() - before
	cancel()
	<-done
	return m
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
