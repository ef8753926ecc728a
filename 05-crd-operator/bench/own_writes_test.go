package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"example.com/hacking-a-controller/05-crd-operator/controllerruntime"
)

// BenchmarkOwnWrites measures EnableReadYourWritesConsistency of controller-runtime in a whole operator. What a
// read right after a write costs is in package stalecache.
func BenchmarkOwnWrites(b *testing.B) {
	count, _, _ := sizes(b)
	for b.Loop() {
		s := newStage(b)
		fmt.Printf("\n%d Ats that are due at once, %d workers\n", count, atOnce)
		fmt.Printf("%-24s %14s %14s %14s %10s\n", "the operator", "requests/At", "live reads/At", "waited/At", "last pod")
		for i := range rounds {
			first := i%2 == 0 // a server becomes slower as it fills
			for _, own := range []bool{first, !first} {
				o := operator{fmt.Sprintf("own-writes-%t-%d", own, i), func(ctx context.Context, config *rest.Config, namespace string, clock clock.WithTicker) error {
					return controllerruntime.Run(ctx, config, controllerruntime.Options{
						Namespace: namespace, Workers: atOnce, Clock: clock, SkipNameValidation: true, ReadYourWrites: own,
					})
				}}
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
