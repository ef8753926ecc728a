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
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// BenchmarkSecretSync copies 100 sources to 500 namespaces, once with a client that knows what to write
// and does nothing else, and once with secretsync. SECRETSYNC_BENCH=10x50 is smaller.
func BenchmarkSecretSync(b *testing.B) {
	sources, namespaces := 100, 500
	if size := os.Getenv("SECRETSYNC_BENCH"); size != "" {
		_, err := fmt.Sscanf(size, "%dx%d", &sources, &namespaces)
		require.NoError(b, err, "SECRETSYNC_BENCH has the form 100x500")
	}
	total := sources * namespaces
	for b.Loop() {
		c := testcluster.Start(b)
		annotated := map[string]string{testRules.annotation: ""}
		namespace := func(name string, annotations map[string]string) error {
			_, err := c.Client.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}, metav1.CreateOptions{})
			return err
		}
		require.NoError(b, namespace(testRules.sourceNamespace, nil))
		var all []*corev1.Secret
		for i := range sources {
			s, err := c.Client.CoreV1().Secrets(testRules.sourceNamespace).Create(b.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("source-%03d", i), Annotations: annotated},
				Data:       map[string][]byte{"key": bytes.Repeat([]byte{byte(i)}, 1024)},
			}, metav1.CreateOptions{})
			require.NoError(b, err)
			all = append(all, s)
		}
		eightAtOnce(b, namespaces, func(n int) error { return namespace(fmt.Sprintf("sync-%03d", n), annotated) })
		eightAtOnce(b, namespaces, func(n int) error { return namespace(fmt.Sprintf("bare-%03d", n), nil) })

		start := time.Now()
		eightAtOnce(b, total, func(n int) error {
			made := testRules.copyOf(all[n%sources], fmt.Sprintf("bare-%03d", n/sources), nil)
			made.Labels[managedBy] = "bare" // or secretsync would cache them
			_, err := c.Client.CoreV1().Secrets(made.Namespace).Create(b.Context(), made, metav1.CreateOptions{})
			return err
		})
		bare := time.Since(start)
		copying, heap := copyAll(b, c.Config, int64(total))
		fmt.Printf("\n%d sources x %d namespaces, 8 at a time, 1024 bytes each\n", sources, namespaces)
		fmt.Printf("bare client: %6.0f writes/s\nsecretsync:  %6.0f writes/s\n", float64(total)/bare.Seconds(), float64(total)/copying.Seconds())
		fmt.Printf("throughput: %.2f of the bare client; memory: %d bytes for each copy in the cache\n", bare.Seconds()/copying.Seconds(), heap/int64(total))
	}
}

func eightAtOnce(b *testing.B, times int, do func(n int) error) {
	b.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for n := range times {
		group.Go(func() error { return do(n) })
	}
	require.NoError(b, group.Wait())
}

// copyAll runs secretsync until it has made that many writes.
func copyAll(b *testing.B, config *rest.Config, writes int64) (took time.Duration, heap int64) {
	b.Helper()
	var written atomic.Int64
	finished := make(chan struct{})
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return trip(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && request.Method != http.MethodGet && response.StatusCode < 300 && written.Add(1) == writes {
				close(finished)
			}
			return response, err
		})
	})
	before, start := inUse(), time.Now()
	ctx, cancel := context.WithTimeout(klog.NewContext(b.Context(), logr.Discard()), 30*time.Minute)
	done := make(chan error, 1)
	go func() { done <- run(ctx, config, io.Discard, options{testRules, 0, 8}) }()
	select {
	case <-finished:
	case <-ctx.Done():
	}
	took, heap = time.Since(start), inUse()-before
	cancel()
	require.NoError(b, <-done)
	require.Equal(b, writes, written.Load(), "each copy is written once")
	return took, heap
}

func inUse() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
