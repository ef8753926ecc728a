package plan_test

import (
	"os"
	"strings"
	"testing"
)

// Each rule is there for a reason: without it, the search finds a promise that is broken.
func TestARuleThatIsLeftOutIsMissed(t *testing.T) {
	for without, tc := range map[rule]struct {
		scope scope
		want  string
	}{
		onlyPublished: {scope{size: 2, commits: 1}, "lacks an acknowledged commit"},
		positionLate:  {scope{begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true}, "lacks an acknowledged commit"},
		namesFirst:    {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{kill}}, "on one disk"},
		samePod:       {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{kill}, late: true, old: true}, "two primaries"},
		needLease:     {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{unreachable}}, "two members take writes"},
		onlySynced:    {scope{size: 2, commits: 1, faults: 1, kinds: []kind{kill}}, "not synced"},
		needProof:     {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{unreachable}}, "two members take writes"},
		oneChoice:     {scope{begin: whole(3), commits: 1, late: true, wishes: []func(*spec){wants(3), wants(2)}}, "lacks an acknowledged commit"},
		compareSwap:   {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{kill}, second: true}, ""},
		keepLost:      {scope{size: 2, commits: 1, faults: 1, kinds: []kind{kill}, leave: true}, "given up"},
		nothingIsLeft: {scope{begin: whole(2), faults: 1, kinds: []kind{dataLost}, backup: true}, "while a disk is left"},
		inTerm:        {scope{begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true}, "are removed"},
		perConnection: {scope{begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true}, "lacks an acknowledged commit"},
		ownNumber:     {scope{begin: whole(2), commits: 2, faults: 2, kinds: []kind{kill}, leave: true}, "lacks an acknowledged commit"},
		oncePerTerm:   {scope{begin: whole(2), commits: 2, faults: 2, kinds: []kind{kill, cutOff}}, "lacks an acknowledged commit"},
		neverPromoted: {scope{begin: whole(2), commits: 1, faults: 2, kinds: []kind{kill}, wishes: []func(*spec){size(1)}}, "lacks an acknowledged commit"},
		firstLive:     {scope{size: 1, commits: 1, faults: 1, kinds: []kind{dataLost}, late: true}, "lacks an acknowledged commit"},
	} {
		t.Run(string(without), func(t *testing.T) {
			t.Parallel()
			s := tc.scope
			if f := explore(&s); f.broken != "" {
				t.Fatalf("with the rule: %s", f.broken)
			}
			s.without = without
			f := explore(&s)
			if f.broken == "" || !strings.Contains(f.broken, tc.want) {
				t.Errorf("got %q, want %q", f.broken, tc.want)
			}
			t.Logf("%d worlds; %s", len(f.from), f.broken)
			if lesson, err := os.ReadFile("README.md"); without == oneChoice && (err != nil || !strings.Contains(string(lesson), f.broken)) {
				t.Error("README.md shows another trace of this one")
			}
		})
	}
}
