package bench

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

const heapAllowed = 1536 // bytes for each At

// BenchmarkIdle has many Ats that are due tomorrow. What does it cost to wait? The
// heap is measured after a minute of that: an operator that has written its last
// PENDING still reconciles, because of the event of that write.
func BenchmarkIdle(b *testing.B) {
	_, _, count := sizes(b)
	for b.Loop() {
		s := newStage(b)
		fmt.Printf("\n%d Ats due tomorrow\n", count)
		fmt.Printf("%-18s %16s %14s\n", "", "requests/minute", "heap per At")
		for _, o := range operators {
			s.createAts(b, o.name, count, time.Now().Add(24*time.Hour))
			before := heap()
			counted, stop := o.start(b, s, o.name, wallclock.New())
			reaches(b, o.name+" PENDING", count, func() int { return counted.count(updateStatus) })
			counted.reset()
			<-time.After(time.Minute)

			requests, each := counted.total(), (heap()-before)/int64(count)
			stop()
			fmt.Printf("%-18s %16d %12d B\n", o.name, requests, each)
			assert.Zero(b, requests, o.name)
			assert.LessOrEqual(b, each, int64(heapAllowed), o.name)
			b.ReportMetric(float64(each), o.name+"-B/At")
		}
	}
}

// heap is what is in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what a pool has kept through the first
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
