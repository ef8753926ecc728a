package bench

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

const heapAllowed = 6 << 10 // bytes for each At

// BenchmarkIdle has many Ats that are due tomorrow. What does it cost to wait?
func BenchmarkIdle(b *testing.B) {
	_, _, count := sizes(b)
	for b.Loop() {
		s := newStage(b)
		counted, each := map[string]*requests{}, map[string]int64{}
		for _, o := range operators {
			s.createAts(b, o.name, count, time.Now().Add(24*time.Hour))
			before := heap()
			c, _ := o.start(b, s, o.name, wallclock.New())
			reaches(b, o.name+" PENDING", count, func() int { return c.count(updateStatus) })
			counted[o.name], each[o.name] = c, (heap()-before)/int64(count)
		}
		settled := map[string]int{}
		for name, c := range counted {
			settled[name] = c.total()
		}
		<-time.After(time.Minute)

		fmt.Printf("\n%d Ats due tomorrow\n", count)
		fmt.Printf("%-18s %16s %14s\n", "", "requests/minute", "heap per At")
		for _, o := range operators {
			during := counted[o.name].total() - settled[o.name]
			fmt.Printf("%-18s %16d %12d B\n", o.name, during, each[o.name])
			assert.Zero(b, during, o.name)
			assert.LessOrEqual(b, each[o.name], int64(heapAllowed), o.name)
			b.ReportMetric(float64(each[o.name]), o.name+"-B/At")
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
