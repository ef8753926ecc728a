package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkASum measures one reconcile, without an API server: the sum over so many pods, and the sum that is kept
// for speed, by a handler that takes out what a pod was and puts in what it is. Run it with `make bench-4`.
func BenchmarkASum(b *testing.B) {
	began := time.Now().Add(-time.Hour)
	for _, pods := range []int{100, 1_000, 10_000, 100_000} {
		c, indexer := cached(io.Discard)
		b.Cleanup(c.queue.ShutDown)
		for i := range pods {
			require.NoError(b, indexer.Add(pod("coast", fmt.Sprint(i), runs(began))))
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
