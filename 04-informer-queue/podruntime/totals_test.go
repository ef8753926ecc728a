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
