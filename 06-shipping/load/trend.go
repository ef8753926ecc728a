package load

import (
	"math"
	"slices"
	"time"
)

// Point is what a process has reported at a time. Two points are compared only if they are of
// one process: one that is killed takes its leak along.
type Point struct {
	At      time.Time
	Value   float64
	Process string
}

// Slope is how much a value grows in a second: the median of the slopes between all pairs of
// points of a process, which is the estimator of Theil and Sen. Up to a quarter of the points may
// be anything, a garbage collection or a busy minute, and it hardly moves. It is 0 when there
// are no two points to compare.
func Slope(points []Point) float64 {
	var slopes []float64
	for i, a := range points {
		for _, b := range points[i+1:] {
			if seconds := b.At.Sub(a.At).Seconds(); a.Process == b.Process && seconds > 0 {
				slopes = append(slopes, (b.Value-a.Value)/seconds)
			}
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	return Quantile(slopes, 0.5)
}

// Settled returns the points that count: those of the second half of the run, and of these not
// the first of a process, in which caches are filled and connections opened.
func Settled(points []Point, begin, end time.Time, settle time.Duration) []Point {
	half := begin.Add(end.Sub(begin) / 2)
	first := map[string]time.Time{}
	var settled []Point
	for _, p := range points {
		if _, seen := first[p.Process]; !seen {
			first[p.Process] = p.At
		}
		if !p.At.Before(half) && p.At.Sub(first[p.Process]) >= settle {
			settled = append(settled, p)
		}
	}
	return settled
}

// Quantile returns the smallest value that is at least as large as this share of all: 0.5 is the
// median, 1 the maximum. Of no values it is NaN.
func Quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}

func valuesOf(points []Point) []float64 {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	return values
}
