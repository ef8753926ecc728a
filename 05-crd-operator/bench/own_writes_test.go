package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
)

// BenchmarkOwnWrites measures EnableReadYourWritesConsistency of controller-runtime:
// first a read right after a write, then a whole operator.
func BenchmarkOwnWrites(b *testing.B) {
	count, _, _ := sizes(b)
	for b.Loop() {
		s := newStage(b)
		fmt.Printf("\n%d times a status is written, and the At is read at once\n", count)
		fmt.Printf("%-24s %8s %10s %10s %10s\n", "the read", "stale", "requests", "p50", "p99")
		for _, way := range []struct {
			name      string
			own, live bool
		}{{"of the cache", false, false}, {"waits for own writes", true, false}, {"of the server", false, true}} {
			s.readAfterWrite(b, way.name, count, way.own, way.live)
		}

		fmt.Printf("\n%d Ats that are due at once, %d workers\n", count, atOnce)
		fmt.Printf("%-24s %14s %14s %14s %10s\n", "the operator", "requests/At", "live reads/At", "waited/At", "last pod")
		for i := range rounds {
			first := i%2 == 0 // a server becomes slower as it fills
			for _, own := range []bool{first, !first} {
				o := operator{fmt.Sprintf("own-writes-%t-%d", own, i), withOwnWrites(own)}
				before := waited(b)
				counted, late := s.leadToDone(b, o, count)
				per := func(n float64) float64 { return n / float64(count) }
				fmt.Printf("%-24s %14.2f %14.2f %11.2f ms %10s\n", o.name, per(float64(counted.total())), per(float64(counted.count(read))),
					per(1000*(waited(b)-before)), late.Round(time.Millisecond))
			}
		}
	}
}

// waited is how many seconds all reads of this process have waited for own writes.
func waited(b *testing.B) float64 {
	b.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(b, err)
	seconds := 0.0
	for _, family := range families {
		if family.GetName() == "controller_runtime_client_consistency_wait_duration_seconds" {
			for _, metric := range family.GetMetric() {
				seconds += metric.GetHistogram().GetSampleSum()
			}
		}
	}
	return seconds
}

func withOwnWrites(own bool) func(context.Context, *rest.Config, string, clock.WithTicker) error {
	return func(ctx context.Context, config *rest.Config, namespace string, clock clock.WithTicker) error {
		return controllerruntime.Run(ctx, config, controllerruntime.Options{
			Namespace: namespace, Workers: atOnce, Clock: clock, SkipNameValidation: true, ReadYourWrites: own,
		})
	}
}

// readAfterWrite writes the status of an At again and again, and reads the At after each
// write. A read is stale if it shows an older version.
func (s *stage) readAfterWrite(b *testing.B, name string, count int, own, live bool) {
	b.Helper()
	counted := &requests{}
	config := rest.CopyConfig(s.Config)
	config.Wrap(counted.wrap)
	c := startCluster(b, config, own)
	reader := client.Reader(c.GetClient())
	if live {
		reader = c.GetAPIReader()
	}
	at := &cnat.At{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, GenerateName: "read-"}, Spec: cnat.AtSpec{Schedule: time.Now().Format(time.RFC3339), Command: "echo YAY"}}
	require.NoError(b, c.GetClient().Create(b.Context(), at))
	got := &cnat.At{}
	require.Eventually(b, func() bool { return reader.Get(b.Context(), client.ObjectKeyFromObject(at), got) == nil }, time.Minute, time.Millisecond)
	counted.reset()

	var took []time.Duration
	stale := 0
	for i := range count {
		at.Status.Phase = []cnat.AtPhase{cnat.Pending, cnat.Running}[i%2]
		require.NoError(b, c.GetClient().Status().Update(b.Context(), at))
		start := time.Now()
		require.NoError(b, reader.Get(b.Context(), client.ObjectKeyFromObject(at), got))
		took = append(took, time.Since(start))
		if got.ResourceVersion != at.ResourceVersion {
			stale++
		}
	}
	slices.Sort(took)
	ms := func(p int) float64 { return took[(len(took)-1)*p/100].Seconds() * 1000 }
	fmt.Printf("%-24s %8d %10d %7.2f ms %7.2f ms\n", name, stale, counted.count(read), ms(50), ms(99))
	if own || live {
		assert.Zero(b, stale, name)
	}
}

// startCluster starts what a manager has for its clients: a cache, and a client of it.
func startCluster(b *testing.B, config *rest.Config, own bool) cluster.Cluster {
	b.Helper()
	scheme := runtime.NewScheme()
	require.NoError(b, cnat.AddToScheme(scheme))
	c, err := cluster.New(config, func(o *cluster.Options) {
		o.Scheme = scheme
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: &own}
	})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	b.Cleanup(func() {
		cancel()
		assert.NoError(b, <-done)
	})
	require.True(b, c.GetCache().WaitForCacheSync(ctx))
	return c
}
