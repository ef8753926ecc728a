package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func TestWhenALeaseHasRunOut(t *testing.T) {
	const ms, d = time.Millisecond, plan.LeaseDuration
	type read struct {
		version    string
		asked, now time.Duration
	}
	for name, tc := range map[string]struct {
		reads []read
		want  bool
	}{
		"not when it is seen first":                            {[]read{{"1", d, d}}, false},
		"not a moment too early":                               {[]read{{"1", 0, 0}, {"1", d - ms, d - ms}}, false},
		"when it has not changed for as long as it lasts":      {[]read{{"1", 0, 0}, {"1", d, d}}, true},
		"not if it was renewed meanwhile":                      {[]read{{"1", 0, 0}, {"2", ms, ms}, {"2", d, d}}, false},
		"it counts from when it was renewed":                   {[]read{{"1", 0, 0}, {"2", ms, ms}, {"2", d + ms, d + ms}}, true},
		"a slow first read may have seen it at its end":        {[]read{{"1", 0, 100 * ms}, {"1", d, d}}, false},
		"a slow last read may have seen it at its beginning":   {[]read{{"1", 0, 0}, {"1", d - ms, d + 100*ms}}, false},
		"a version that comes again is not the one of before":  {[]read{{"1", 0, 0}, {"2", ms, ms}, {"1", d, d}}, false},
		"an operator that could not read it for long is right": {[]read{{"1", 0, 0}, {"1", time.Hour, time.Hour}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m, begin, got := &tracker{}, time.Now(), false
			for _, r := range tc.reads {
				got = m.expired(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{ResourceVersion: r.version}}, begin.Add(r.asked), begin.Add(r.now))
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestHowLongAnAgentIsSilent(t *testing.T) {
	type round struct {
		at      time.Duration
		answers bool
	}
	const s = time.Second
	for name, tc := range map[string]struct {
		rounds []round
		want   time.Duration
	}{
		"not at all when it is seen first":              {[]round{{9 * s, false}}, 0},
		"since it was seen first":                       {[]round{{0, false}, {s, false}}, s},
		"since it has answered last":                    {[]round{{0, true}, {s, true}, {2 * s, false}, {3 * s, false}}, 2 * s},
		"not any more when it answers":                  {[]round{{0, false}, {s, false}, {2 * s, true}}, 0},
		"an operator that has not asked does not count": {[]round{{0, true}, {time.Hour, false}}, longestGap},
		"it counts again when it asks":                  {[]round{{0, true}, {time.Hour, false}, {time.Hour + s, false}}, longestGap + s},
	} {
		t.Run(name, func(t *testing.T) {
			m, begin := &tracker{}, time.Now()
			for _, r := range tc.rounds {
				m.hear(map[types.UID]bool{"pod": r.answers}, begin.Add(r.at))
			}
			assert.Equal(t, tc.want, m.silence["pod"])
			m.hear(map[types.UID]bool{"next": true}, begin)
			assert.NotContains(t, m.silence, types.UID("pod"), "what is gone is forgotten")
		})
	}
}

func TestHowLongThereIsNoPrimary(t *testing.T) {
	type look struct {
		at    time.Duration
		phase postgres.Phase
	}
	const s = time.Second
	for name, tc := range map[string]struct {
		looks []look
		want  time.Duration
	}{
		"not at all when it is seen first":               {[]look{{9 * s, postgres.Electing}}, 0},
		"since it was seen first":                        {[]look{{0, postgres.Electing}, {s, postgres.Electing}, {2 * s, postgres.Unsafe}}, 2 * s},
		"not since there was one":                        {[]look{{0, postgres.Running}, {s, postgres.Electing}, {2 * s, postgres.Electing}}, s},
		"not any more when there is one":                 {[]look{{0, postgres.Electing}, {s, postgres.Electing}, {2 * s, postgres.Joining}}, 0},
		"one that is named is none":                      {[]look{{0, postgres.Electing}, {s, postgres.Promoting}, {2 * s, postgres.Electing}}, 2 * s},
		"an operator that has not looked does not count": {[]look{{0, postgres.Electing}, {time.Hour, postgres.Electing}}, longestGap},
	} {
		t.Run(name, func(t *testing.T) {
			m, begin, got := &tracker{}, time.Now(), time.Duration(0)
			for _, l := range tc.looks {
				got = m.leaderless(l.phase, begin.Add(l.at))
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestHowOldABackupIs(t *testing.T) {
	type look struct{ made, at time.Duration } // the date of the last one, and when it is seen
	const h, years, none = time.Hour, 2 * 365 * 24 * time.Hour, time.Duration(-1)
	for name, tc := range map[string]struct {
		looks []look
		want  time.Duration
	}{
		"none has no age that could be too much":            {[]look{{none, h}, {none, 2 * h}}, h},
		"an operator that starts goes by the date":          {[]look{{0, h}}, h},
		"it is never younger than new":                      {[]look{{years, h}}, 0},
		"it grows older":                                    {[]look{{0, h}, {0, 3 * h}}, 3 * h},
		"one that comes is new":                             {[]look{{0, h}, {h, h}, {h, 2 * h}}, h},
		"also if its date is of a clock that is far behind": {[]look{{0, h}, {-years, h}, {-years, 2 * h}}, h},
		"or far ahead":                                      {[]look{{0, h}, {years, h}, {years, 2 * h}}, h},
	} {
		t.Run(name, func(t *testing.T) {
			var a age
			begin, got := time.Now(), time.Duration(0)
			for _, l := range tc.looks {
				made := begin.Add(l.made)
				if l.made == none {
					made = time.Time{}
				}
				got = a.of(made, begin.Add(l.at))
			}
			assert.Equal(t, tc.want, got)
		})
	}
}
