package podruntime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

func bell(uid types.UID, version string, l life) *pod {
	return &pod{namespace: "coast", name: "bell", uid: uid, version: version, life: l}
}

// The life of a pod, and of another that takes its name, step by step.
func TestWhatIsAChange(t *testing.T) {
	totals := newTotals()
	runs := life{start: 100}
	var was *pod
	for _, step := range []struct {
		what    string
		is      *pod
		changed bool
		want    map[string]float64
	}{
		{"it comes", bell("1", "1", life{}), true, map[string]float64{"coast": 0}},
		{"it is given a node", bell("1", "2", life{}), false, map[string]float64{"coast": 0}},
		{"it begins to run", bell("1", "3", runs), true, map[string]float64{"coast": 100}},
		{"it is labelled", bell("1", "4", runs), false, map[string]float64{"coast": 100}},
		{"a resync", bell("1", "4", runs), false, map[string]float64{"coast": 100}},
		{"it ends", bell("1", "5", life{100, 130}), true, map[string]float64{"coast": 30}},
		{"another one has taken its name", bell("2", "6", life{100, 130}), true, map[string]float64{"coast": 30}},
		{"it goes, and the namespace is forgotten", nil, true, map[string]float64{}},
	} {
		assert.Equal(t, step.changed, totals.replace(was, step.is), step.what)
		assert.Equal(t, step.want, totals.all(time.Unix(200, 0)), step.what)
		was = step.is
	}
	assert.Zero(t, totals.seconds("coast", time.Unix(200, 0)))
	assert.Empty(t, totals.sums, "to read a namespace does not add it")
}

func TestNamespacesAreApart(t *testing.T) {
	totals := newTotals()
	totals.replace(nil, &pod{namespace: "coast", uid: "1", life: life{start: 100}})
	totals.replace(nil, &pod{namespace: "harbour", uid: "2", life: life{start: 150}})
	totals.replace(nil, &pod{namespace: "harbour", uid: "3"})
	now := time.Unix(200, 0)
	assert.Equal(t, map[string]float64{"coast": 100, "harbour": 50}, totals.all(now))
	assert.InDelta(t, 50, totals.seconds("harbour", now), 0)

	totals.replace(&pod{namespace: "coast", uid: "1", life: life{start: 100}}, nil)
	assert.Equal(t, map[string]float64{"harbour": 50}, totals.all(now))
}

// Clocks differ: that of a node, that of the API server and ours. No time is negative, and no
// pod takes anything from the others.
func TestAPodWhoseClockIsAhead(t *testing.T) {
	for name, tc := range map[string]struct {
		l                   life
		before, amid, after float64 // at 200, 350 and 500
	}{
		"it runs":                    {life{start: 300}, 0, 50, 200},
		"it has ended":               {life{300, 400}, 0, 50, 100},
		"it has ended in our future": {life{100, 400}, 100, 250, 300},
		"it begins in the year 9999": {life{start: 253402300799}, 0, 0, 0},
		"it ends in the year 9999":   {life{100, 253402300799}, 100, 250, 400},
		"it has ended in our past":   {life{100, 150}, 50, 50, 50},
	} {
		t.Run(name, func(t *testing.T) {
			totals := newTotals()
			other := &pod{namespace: "coast", name: "other", uid: "2", life: life{start: 190}}
			totals.replace(nil, other)
			totals.replace(nil, bell("1", "1", tc.l))
			for i, want := range []float64{tc.before, tc.amid, tc.after} {
				now := []int64{200, 350, 500}[i]
				assert.InDelta(t, want+float64(now-190), totals.seconds("coast", time.Unix(now, 0)), 0, "at %d", now)
			}
			totals.replace(bell("1", "1", tc.l), nil)
			assert.InDelta(t, 310, totals.seconds("coast", time.Unix(500, 0)), 0, "it has taken along what was its own")
		})
	}
}

func TestOurOwnClockIsSetBack(t *testing.T) {
	totals := newTotals()
	totals.replace(nil, bell("1", "1", life{start: 100}))
	assert.InDelta(t, 100, totals.seconds("coast", time.Unix(200, 0)), 0)
	assert.Zero(t, totals.seconds("coast", time.Unix(50, 0)))
}
