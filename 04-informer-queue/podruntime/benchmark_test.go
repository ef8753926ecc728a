package podruntime

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// BenchmarkPodruntime compares this program with 03/first, which lists all pods at each
// event, and with 04/first, which goes through all pods in its cache. Run it with
// `make bench-4`.
//
// The time is that from the arrival of an event to the line that is printed
// about it, and of many such times the median. It does not include what the server
// needs to make the event.
func BenchmarkPodruntime(b *testing.B) {
	klog.SetLogger(logr.Discard())
	c := testcluster.Start(b)
	var rows []row
	for _, pods := range []int{100, 1000, 10_000} {
		namespace := fmt.Sprintf("pods-%d", pods)
		fill(b, c.Client, namespace, pods)
		cause := startAnew(c.Client, namespace)
		rows = append(rows,
			measure(b, listed, pods, listing(c.Config, namespace, cause)),
			measure(b, summed, pods, summing(c.Config, namespace, cause)),
			measure(b, cached, pods, caching(c.Config, namespace, cause)))
	}
	for _, pods := range []int{100, 1000, 10_000, 100_000} {
		rows = append(rows, measure(b, faked, pods, cachingFakes(pods)))
	}
	printRows(rows)
	benchmarkHeap(b, c.Client, "pods-10000", 10_000)
}

const (
	listed = "a LIST per event"
	summed = "first, a sum per event"
	cached = "podruntime"
	faked  = "podruntime, fake watch"
)

type row struct {
	form     string
	pods     int
	requests float64 // for each event
	took     time.Duration
}

func measure(b *testing.B, form string, pods int, start starter) row {
	r := row{form: form, pods: pods}
	b.Run(fmt.Sprintf("%s/pods=%d", form, pods), func(b *testing.B) {
		s := start(b.Context(), b)
		before := s.requests()
		var times []time.Duration
		for b.Loop() {
			took, err := s.next(b.Context())
			require.NoError(b, err)
			times = append(times, took)
		}
		slices.Sort(times)
		r.took = times[len(times)/2]
		r.requests = float64(s.requests()-before) / float64(len(times))
		b.ReportMetric(micro(r.took), "µs/event")
		b.ReportMetric(r.requests, "requests/event")
		b.ReportMetric(0, "ns/op") // with the making of the event: means nothing
	})
	return r
}

// printRows prints the table, and for each form how much more the most costly
// size takes than the cheapest.
func printRows(rows []row) {
	fmt.Printf("\n%-24s %8s %16s %12s\n", "", "pods", "requests/event", "µs/event")
	least, most := map[string]time.Duration{}, map[string]time.Duration{}
	for _, r := range rows {
		fmt.Printf("%-24s %8d %16.1f %12.1f\n", r.form, r.pods, r.requests, micro(r.took))
		most[r.form] = max(most[r.form], r.took)
		if least[r.form] == 0 || r.took < least[r.form] {
			least[r.form] = r.took
		}
	}
	for _, form := range []string{listed, summed, cached, faked} {
		fmt.Printf("%s: %.2f times as long in the worst case as in the best\n", form, float64(most[form])/float64(least[form]))
	}
	fmt.Println()
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
