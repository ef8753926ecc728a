package plan_test

import (
	"os"
	"strings"
	"testing"
)

// Each rule is there for a reason: without it, the search finds a promise that is broken.
func TestARuleThatIsLeftOutIsMissed(t *testing.T) {
	searched := scopes()
	for without, tc := range map[rule]struct {
		scope scope
		want  string
		of    string // the scope of the search that has all of this one, so nothing is broken with the rule
	}{
		onlyPublished: {scope{size: 2, commits: 1}, "lacks an acknowledged commit", "two members from nothing"},
		positionLate:  {scope{begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true}, "lacks an acknowledged commit", "a dead kubelet after a failover"},
		namesFirst:    {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{kill}}, "on one disk", "two members and two faults"},
		samePod:       {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{kill}, late: true, old: true}, "two primaries", ""},
		needLease:     {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{unreachable}}, "two members take writes", "two members and two faults"},
		onlySynced:    {scope{size: 2, commits: 1, faults: 1, kinds: []kind{kill}}, "not synced", "two members from nothing"},
		needProof:     {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{unreachable}}, "two members take writes", "two members and two faults"},
		primaryLast:   {scope{begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true, slow: true}, "lacks an acknowledged commit", "a slow look after a failover"},
		oneChoice:     {scope{begin: whole(3), commits: 1, late: true, wishes: []func(*spec){wants(3), wants(2)}}, "lacks an acknowledged commit", ""},
		compareSwap:   {scope{begin: whole(2), commits: 1, faults: 1, kinds: []kind{kill}, second: true}, "", "two operators"},
		keepLost:      {scope{size: 2, commits: 1, faults: 1, kinds: []kind{kill}, leave: true}, "given up", "data loss, and fewer members"},
		nothingIsLeft: {scope{begin: whole(2), faults: 1, kinds: []kind{dataLost}, backup: true}, "while a disk is left", ""},
		inTerm:        {scope{begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true}, "are removed", "a dead kubelet after a failover"},
		perConnection: {scope{begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true}, "lacks an acknowledged commit", "a dead kubelet after a failover"},
		ownNumber:     {scope{begin: whole(2), commits: 2, faults: 2, kinds: []kind{kill}, leave: true}, "lacks an acknowledged commit", "a person allows data loss"},
		oncePerTerm:   {scope{begin: whole(2), commits: 2, faults: 2, kinds: []kind{kill, cutOff}}, "lacks an acknowledged commit", "the API server is away"},
		neverPromoted: {scope{begin: whole(2), commits: 1, faults: 2, kinds: []kind{kill}, wishes: []func(*spec){size(1)}}, "lacks an acknowledged commit", ""},
		firstLive:     {scope{size: 1, commits: 1, faults: 1, kinds: []kind{dataLost}, late: true}, "lacks an acknowledged commit", ""},
	} {
		t.Run(string(without), func(t *testing.T) {
			t.Parallel()
			s := tc.scope
			if _, is := searched[tc.of]; !is && tc.of != "" {
				t.Fatalf("there is no scope %q", tc.of)
			}
			if tc.of == "" {
				if f := explore(&s); f.broken != "" {
					t.Fatalf("with the rule: %s", f.broken)
				}
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
