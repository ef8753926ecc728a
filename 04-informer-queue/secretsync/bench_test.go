package main

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
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

const (
	atOnce   = 8
	dataSize = 1024
)

// BenchmarkSecretSync copies 100 sources to 500 namespaces, once with a client
// that knows what to write and does nothing else, and once with secretsync.
// SECRETSYNC_BENCH=10x50 is smaller.
func BenchmarkSecretSync(b *testing.B) {
	sources, namespaces := 100, 500
	if size := os.Getenv("SECRETSYNC_BENCH"); size != "" {
		_, err := fmt.Sscanf(size, "%dx%d", &sources, &namespaces)
		require.NoError(b, err, "SECRETSYNC_BENCH has the form 100x500")
	}
	total := sources * namespaces
	for b.Loop() {
		c := testcluster.Start(b)
		prepare(b, c, sources, namespaces)
		bare := writeBare(b, c, sources, namespaces)
		copying, heap := copyAll(b, c, int64(total))
		b.ReportMetric(bare.Seconds()/copying.Seconds(), "of-bare")
		fmt.Printf("\n%d sources x %d namespaces, %d at a time, %d bytes each\n", sources, namespaces, atOnce, dataSize)
		fmt.Printf("%-12s %8s %9s %9s\n", "", "writes", "seconds", "writes/s")
		row := func(name string, took time.Duration) {
			fmt.Printf("%-12s %8d %9.2f %9.0f\n", name, total, took.Seconds(), float64(total)/took.Seconds())
		}
		row("bare client", bare)
		row("secretsync", copying)
		fmt.Printf("throughput: %.2f of the bare client; memory: %d bytes for each copy in the cache\n", bare.Seconds()/copying.Seconds(), heap/int64(total))
	}
}

// copyAll runs secretsync until it has made that many writes.
func copyAll(b *testing.B, c *testcluster.Cluster, writes int64) (took time.Duration, heap int64) {
	b.Helper()
	var written atomic.Int64
	finished := make(chan struct{})
	config := rest.CopyConfig(c.Config)
	through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && request.Method != http.MethodGet && response.StatusCode < 300 && written.Add(1) == writes {
			close(finished)
		}
		return response, err
	})(config)
	before, start := inUse(), time.Now()
	ctx, cancel := context.WithCancel(klog.NewContext(b.Context(), logr.Discard()))
	done := make(chan error, 1)
	go func() { done <- run(ctx, config, io.Discard, options{testRules, 0, atOnce}) }()
	select {
	case <-finished:
	case <-time.After(30 * time.Minute):
		assert.Fail(b, "it wrote too little", "%d", written.Load())
	}
	took, heap = time.Since(start), inUse()-before
	cancel()
	require.NoError(b, <-done)
	assert.Equal(b, writes, written.Load(), "each copy is written once")
	return took, heap
}

func inUse() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
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

	start := time.Now()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for n := range namespaces {
		for _, source := range list.Items {
			group.Go(func() error {
				made := testRules.copyOf(&source, fmt.Sprintf("bare-%03d", n), nil)
				made.Labels[managedBy] = "bare" // or secretsync would cache them
				_, err := c.Client.CoreV1().Secrets(made.Namespace).Create(b.Context(), made, metav1.CreateOptions{})
				return err
			})
		}
	}
	require.NoError(b, group.Wait())
	return time.Since(start)
}
