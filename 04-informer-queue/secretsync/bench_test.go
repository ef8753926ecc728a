package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// BenchmarkSecretSync copies 100 sources to 500 namespaces, once with a client that knows what to write and does
// nothing else, and once with secretsync. SECRETSYNC_BENCH=10x50 is smaller.
func BenchmarkSecretSync(b *testing.B) {
	sources, namespaces := 100, 500
	if size := os.Getenv("SECRETSYNC_BENCH"); size != "" {
		_, err := fmt.Sscanf(size, "%dx%d", &sources, &namespaces)
		require.NoError(b, err, "SECRETSYNC_BENCH has the form 100x500")
	}
	for b.Loop() {
		c := testcluster.Start(b)
		annotated := map[string]string{testRules.annotation: ""}
		namespace := func(name string, annotations map[string]string) error {
			_, err := c.Client.CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}, metav1.CreateOptions{})
			return err
		}
		require.NoError(b, namespace(testRules.sourceNamespace, nil))
		all := make([]*corev1.Secret, sources)
		eightAtOnce(b, sources, func(n int) (err error) {
			all[n], err = c.Client.CoreV1().Secrets(testRules.sourceNamespace).Create(b.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("source-%03d", n), Annotations: annotated},
				Data:       map[string][]byte{"key": bytes.Repeat([]byte{byte(n)}, 1024)},
			}, metav1.CreateOptions{})
			return err
		})
		eightAtOnce(b, namespaces, func(n int) error { return namespace(fmt.Sprintf("sync-%03d", n), annotated) })
		eightAtOnce(b, namespaces, func(n int) error { return namespace(fmt.Sprintf("bare-%03d", n), nil) })

		start, total := time.Now(), sources*namespaces
		eightAtOnce(b, total, func(n int) error {
			made := testRules.copyOf(all[n%sources], fmt.Sprintf("bare-%03d", n/sources), nil)
			made.Labels[managedBy] = "bare" // or secretsync would cache them
			_, err := c.Client.CoreV1().Secrets(made.Namespace).Create(b.Context(), made, metav1.CreateOptions{})
			return err
		})
		bare, before := time.Since(start), testcluster.Heap()
		start = time.Now()

		ctx, cancel := context.WithTimeout(klog.NewContext(b.Context(), logr.Discard()), 30*time.Minute)
		lines, ended := make(chan string, total), make(chan error, 1)
		go func() { ended <- run(ctx, c.Config, lineWriter(lines), options{testRules, 0, 8}) }()
		for range total {
			<-lines
		}
		copying, heap := time.Since(start), testcluster.Heap()-before
		cancel()
		require.NoError(b, <-ended)
		fmt.Printf("\n%d sources x %d namespaces, 8 at a time, 1024 bytes each\n", sources, namespaces)
		fmt.Printf("bare client: %6.0f writes/s\nsecretsync:  %6.0f writes/s\n", float64(total)/bare.Seconds(), float64(total)/copying.Seconds())
		fmt.Printf("throughput: %.2f of the bare client; memory: %d bytes for each copy in the cache\n", bare.Seconds()/copying.Seconds(), heap/int64(total))
	}
}

// lineWriter is an output: secretsync writes a line for each write that succeeded.
type lineWriter chan string

func (w lineWriter) Write(line []byte) (int, error) { w <- string(line); return len(line), nil }

func eightAtOnce(b *testing.B, times int, do func(n int) error) {
	b.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for n := range times {
		group.Go(func() error { return do(n) })
	}
	require.NoError(b, group.Wait())
}
