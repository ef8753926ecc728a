package plan_test

import (
	"testing"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

func TestEachTermBeginsATimelineOfItsOwn(t *testing.T) {
	// A new database has timeline 1, and is promoted in term 1.
	if first := plan.TimelineOf(1); first != 2 {
		t.Errorf("term 1 begins timeline %d", first)
	}
	for term := range int64(100) {
		if plan.TimelineOf(term+1) <= plan.TimelineOf(term) {
			t.Errorf("terms %d and %d do not begin two timelines", term, term+1)
		}
	}
}

func TestHasDiverged(t *testing.T) {
	type at = plan.Position
	type forks = []plan.Fork
	// Timeline 1 ended at 0/300, and timeline 2, which followed, at 0/500. No timeline has number 3.
	primary, history := at{4, 0x600}, forks{{1, 0x300}, {2, 0x500}}
	for name, tc := range map[string]struct {
		member   at
		mine     forks
		diverged bool
	}{
		"on the primary's timeline, behind it":           {at{4, 0x580}, history, false},
		"on the primary's timeline, as far as it":        {at{4, 0x600}, history, false},
		"on the primary's timeline, ahead of it":         {at{4, 0x601}, history, true},
		"on another timeline of that number":             {at{4, 0x580}, forks{{1, 0x300}, {2, 0x480}}, true},
		"on another that came of another one":            {at{4, 0x580}, forks{{1, 0x300}}, true},
		"on the last timeline, up to the fork":           {at{2, 0x500}, history[:1], false},
		"on the last timeline, past the fork":            {at{2, 0x501}, history[:1], true},
		"on the last timeline, further than now":         {at{2, 0x700}, history[:1], true},
		"on another timeline of the last one's number":   {at{2, 0x350}, forks{{1, 0x280}}, true},
		"on the first timeline, up to its fork":          {at{1, 0x300}, nil, false},
		"on the first timeline, past its fork":           {at{1, 0x400}, nil, true},
		"on a timeline of a number that was left out":    {at{3, 0x100}, history, true},
		"on a timeline that began later":                 {at{5, 0x600}, append(history[:2:2], at{4, 0x600}), true},
		"on one that the primary has but for its end":    {at{2, 0x450}, history[:1], false},
		"on one number, of which the first fork differs": {at{2, 0x500}, forks{{1, 0x2ff}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := plan.HasDiverged(tc.member, primary, tc.mine, history); got != tc.diverged {
				t.Errorf("got %t", got)
			}
		})
	}
	// The primary knew where timeline 2 ends when it was promoted, and had it up to 0/400 only.
	if history := (forks{{1, 0x300}, {2, 0x500}, {4, 0x400}}); !plan.HasDiverged(at{2, 0x450}, at{6, 0x600}, history[:1], history) {
		t.Error("what the primary never had of a timeline is taken for what it has")
	}
}
