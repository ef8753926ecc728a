package podruntime

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSum(t *testing.T) {
	now := time.Unix(1000, 500_000_000)
	for name, tc := range map[string]struct {
		lives []life
		want  float64
	}{
		"no pods":                    {nil, 0},
		"pods that have not begun":   {[]life{{}, {}}, 0},
		"a pod that runs":            {[]life{{start: 900}}, 100.5},
		"two that run":               {[]life{{start: 900}, {start: 800}}, 301},
		"one that ended":             {[]life{{start: 900, end: 930}}, 30},
		"some of each":               {[]life{{}, {start: 900}, {start: 500, end: 600}}, 200.5},
		"one that ended when it did": {[]life{{start: 900, end: 900}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var s sum
			for _, l := range tc.lives {
				s.count(l, 1)
			}
			assert.InDelta(t, tc.want, s.seconds(now), 1e-9)
			assert.EqualValues(t, len(tc.lives), s.pods)
			for _, l := range tc.lives {
				s.count(l, -1)
			}
			assert.Equal(t, sum{}, s, "what was added has gone without a trace")
		})
	}
}

// A hundred thousand pods that have run for ten years are no trouble.
func TestASumThatNoDurationHolds(t *testing.T) {
	now := time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
	const years = 10 * 365 * 24 * 3600
	var s sum
	for range 100_000 {
		s.count(life{start: now.Unix() - years}, 1)
	}
	assert.InDelta(t, 100_000.0*years, s.seconds(now), 1)
}

// Whatever happens to pods, in whatever order, the three numbers give what the
// addition of all of them gives.
func TestTheSumIsTheSumOfAll(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 4))
		var s sum
		lives := map[int]life{}
		second := int64(1_799_500_000) // some pods begin, or have ended, in its future
		for range 500 {
			i := random.IntN(30)
			if old, exists := lives[i]; exists {
				s.count(old, -1)
				delete(lives, i)
			}
			if random.IntN(3) > 0 {
				lives[i] = someLife(random)
				s.count(lives[i], 1)
			}
			second += random.Int64N(4000)
			now := time.Unix(second, random.Int64N(1e9))
			require.InDelta(t, addUp(lives, now), s.seconds(now), 1e-3, "seed %d", seed)
			require.EqualValues(t, len(lives), s.pods)
		}
	}
}

func someLife(random *rand.Rand) life {
	start := 1_700_000_000 + random.Int64N(1e8)
	return []life{{}, {start: start}, {start: start, end: start + random.Int64N(1e6)}}[random.IntN(3)]
}

func addUp(lives map[int]life, now time.Time) (seconds float64) {
	for _, l := range lives {
		switch {
		case l.start == 0 || l.start > now.Unix():
		case l.end > now.Unix():
			seconds += float64(now.Unix() - l.start)
		case l.end == 0:
			seconds += now.Sub(time.Unix(l.start, 0)).Seconds()
		default:
			seconds += float64(l.end - l.start)
		}
	}
	return seconds
}
