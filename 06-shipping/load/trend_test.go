package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// series are points a second apart.
func series(process string, count int, value func(second int) float64) (points []Point) {
	for i := range count {
		points = append(points, Point{At: time.Unix(int64(i), 0), Value: value(i), Process: process})
	}
	return points
}

func TestSlope(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	for name, tc := range map[string]struct {
		points []Point
		want   float64
	}{
		"no points":             {nil, 0},
		"one point":             {series("a", 1, func(int) float64 { return 7 }), 0},
		"flat":                  {series("a", 60, func(int) float64 { return 7 }), 0},
		"a line":                {series("a", 60, func(i int) float64 { return 7 + 3*float64(i) }), 3},
		"it falls":              {series("a", 60, func(i int) float64 { return -2 * float64(i) }), -2},
		"a sawtooth":            {series("a", 60, func(i int) float64 { return float64(i % 6) }), 0},
		"a busy minute":         {series("a", 60, func(i int) float64 { return 3*float64(i) + 1000*boolean(i >= 20 && i < 30) }), 3},
		"noise":                 {series("a", 60, func(int) float64 { return 100 + noise.Float64() }), 0},
		"noise on a line":       {series("a", 60, func(i int) float64 { return 3*float64(i) + noise.Float64() }), 3},
		"killed and again":      {append(series("a", 30, func(i int) float64 { return 2 * float64(i) }), series("b", 30, func(i int) float64 { return 2 * float64(i) })...), 2},
		"another that has more": {append(series("standby", 30, func(int) float64 { return 10 }), shifted(30, series("leader", 30, func(int) float64 { return 90 }))...), 0},
	} {
		t.Run(name, func(t *testing.T) {
			assert.InDelta(t, tc.want, Slope(tc.points), 0.05)
		})
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func shifted(seconds int, points []Point) []Point {
	for i := range points {
		points[i].At = points[i].At.Add(time.Duration(seconds) * time.Second)
	}
	return points
}

func TestWhatCountsIsTheSecondHalf(t *testing.T) {
	points := append(series("a", 100, func(i int) float64 { return float64(i) }), shifted(60, series("b", 40, func(i int) float64 { return float64(100 + i) }))...)
	got := valuesOf(Settled(points, time.Unix(0, 0), time.Unix(100, 0), 10*time.Second))
	var want []float64
	for i := 50; i < 100; i++ {
		want = append(want, float64(i))
	}
	for i := 110; i < 140; i++ { // b began at 60, and its first ten seconds do not count
		want = append(want, float64(i))
	}
	assert.Equal(t, want, got)
}

func TestQuantile(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for share, want := range map[float64]float64{0: 1, 0.2: 1, 0.5: 3, 0.99: 5, 1: 5} {
		assert.InDelta(t, want, Quantile(values, share), 0, "share %v", share)
	}
	assert.True(t, math.IsNaN(Quantile(nil, 0.5)))
	assert.Equal(t, []float64{5, 1, 4, 2, 3}, values, "they are left in their order")
}
