package plan_test

import (
	"flag"
	"maps"
	"runtime/debug"
	"testing"
)

var deep = flag.Bool("deep", false, "have the search go further; that takes half an hour and 10 GB")

var (
	allFaults  = []kind{kill, freeze, cutOff, unreachable, podDeleted, diskDeleted, dataLost}
	lastCopies = []kind{kill, dataLost}
)

func size(n int8) func(*spec)  { return func(s *spec) { s.size = n } }
func wants(n int8) func(*spec) { return func(s *spec) { s.primary = n } }
func deleted(s *spec)          { s.deleted = true }

// scopes are what every run of the tests goes through.
func scopes() map[string]scope {
	return map[string]scope{
		"one member":                        {size: 1, commits: 2, faults: 3, kinds: allFaults},
		"two members from nothing":          {size: 2, commits: 2, faults: 1, kinds: allFaults},
		"two members and two faults":        {begin: whole(2), commits: 1, faults: 2, kinds: allFaults},
		"three members from nothing":        {size: 3, commits: 1, faults: 1, kinds: []kind{kill, freeze, cutOff}},
		"three members and two commits":     {begin: whole(3), commits: 2, faults: 1, kinds: allFaults},
		"a dead kubelet":                    {begin: whole(3), commits: 1, faults: 1, kinds: allFaults, hole: true},
		"a dead kubelet after a failover":   {begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true},
		"statuses come late":                {begin: whole(3), commits: 1, faults: 1, kinds: allFaults, late: true},
		"two operators":                     {begin: whole(2), commits: 1, faults: 1, kinds: allFaults, second: true},
		"a slow look":                       {begin: whole(2), commits: 1, faults: 1, kinds: allFaults, slow: true},
		"a slow look after a failover":      {begin: changed(), commits: 1, faults: 1, kinds: []kind{freeze}, hole: true, slow: true},
		"a slow look, and no disk is left":  {begin: whole(2), commits: 1, faults: 2, kinds: []kind{kill, diskDeleted}, backup: true, slow: true},
		"a slow look, and data loss":        {size: 2, commits: 1, faults: 1, kinds: lastCopies, leave: true, slow: true},
		"from one member to three and back": {size: 1, commits: 1, faults: 1, kinds: []kind{kill}, wishes: []func(*spec){size(3), size(1)}},
		"another primary is wanted":         {begin: whole(2), commits: 1, faults: 1, kinds: allFaults, wishes: []func(*spec){wants(2)}},
		"a third is wanted as primary":      {begin: whole(3), commits: 1, wishes: []func(*spec){wants(3), wants(2)}},
		"another image, one member":         {begin: outdated(1, 0), commits: 1, faults: 1, kinds: allFaults},
		"another image, two members":        {begin: outdated(2, 0), commits: 1, faults: 1, kinds: []kind{kill, freeze, diskDeleted}},
		"another image, three members":      {begin: outdated(3, 0), commits: 1},
		"another image, the primary stays":  {begin: outdated(2, 1), commits: 1, faults: 1, kinds: []kind{kill}},
		"the cluster is deleted":            {size: 2, commits: 1, faults: 1, kinds: lastCopies, wishes: []func(*spec){deleted}},
		"data loss, and fewer members":      {size: 2, commits: 1, faults: 2, kinds: lastCopies, leave: true, wishes: []func(*spec){size(1)}},
		"a person allows data loss":         {begin: whole(2), commits: 2, faults: 2, kinds: []kind{kill, freeze, dataLost}, leave: true},
		"the API server is away":            {begin: whole(2), commits: 2, faults: 2, kinds: []kind{kill, cutOff}},
		"all disks are lost":                {begin: whole(2), commits: 1, faults: 3, kinds: []kind{kill, diskDeleted}, backup: true},
	}
}

// deepScopes take minutes.
func deepScopes() map[string]scope {
	return map[string]scope{
		"deep: three members from nothing":        {size: 3, commits: 1, faults: 1, kinds: allFaults},
		"deep: two members and three faults":      {begin: whole(2), commits: 1, faults: 3, kinds: allFaults},
		"deep: three members and two faults":      {begin: whole(3), commits: 1, faults: 2, kinds: allFaults},
		"deep: a dead kubelet and two faults":     {begin: whole(3), commits: 1, faults: 2, kinds: []kind{freeze, kill}, hole: true},
		"deep: statuses come late":                {begin: whole(2), commits: 1, faults: 2, kinds: allFaults, late: true},
		"deep: two operators":                     {begin: whole(3), commits: 1, faults: 1, kinds: allFaults, second: true},
		"deep: from one member to three and back": {size: 1, commits: 1, faults: 1, kinds: allFaults, wishes: []func(*spec){size(3), size(1)}},
		"deep: a third is wanted as primary":      {begin: whole(3), commits: 1, faults: 1, kinds: allFaults, wishes: []func(*spec){wants(3), wants(2)}},
		"deep: a slow look":                       {begin: whole(2), commits: 1, faults: 2, kinds: allFaults, slow: true},
		"deep: another image":                     {begin: outdated(3, 1), commits: 1, faults: 1, kinds: allFaults},
		"deep: a person allows data loss":         {begin: whole(3), commits: 2, faults: 2, kinds: lastCopies, leave: true},
	}
}

func TestSearchFindsNoBrokenPromise(t *testing.T) {
	collect := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(collect) })
	all := scopes()
	if *deep {
		maps.Copy(all, deepScopes())
	}
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := explore(&s)
			if f.broken != "" {
				t.Error(f.broken)
			}
			t.Logf("%d worlds, %d free moves between them", len(f.from), len(f.edges))
		})
	}
}
