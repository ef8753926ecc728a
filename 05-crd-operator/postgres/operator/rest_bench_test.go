package operator

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testrights"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// fleet is many clusters of three members, each in a namespace of its own, and one operator.
type fleet []*env

// BenchmarkRest has a hundred clusters that are well. What do they cost the API server, the agents
// and the memory of the cache? And how soon does an election begin beside them? The agents,
// which the test plays, send it nothing while they rest, so all requests are the
// operator's. CLUSTERS=20 is smaller.
func BenchmarkRest(b *testing.B) {
	count, err := strconv.Atoi(cmp.Or(os.Getenv("CLUSTERS"), "100"))
	require.NoError(b, err, "CLUSTERS looks like 20")
	f := newFleet(b, count)
	_, stop := f.startOperator()
	f.settles()
	stop() // what it has in its caches, and nothing else, is measured in a cache alone
	before := heap()
	f[0].cache()
	fmt.Printf("\n%d clusters at rest: the cache has %.1f KB for each\n", count, float64(heap()-before)/float64(count)/1000)
	requests, _ := f.startOperator()
	for b.Loop() {
		f.rest(b, requests)
		f.fail(b, "its pod ends", (*env).kill)
		f.fail(b, "its agent is silent", func(e *env, primary string) { e.change(func() { e.agents[primary].frozen = true }) })
	}
}

func newFleet(b *testing.B, count int) (f fleet) {
	b.Helper()
	for range count {
		e := newEnv(b)
		f = append(f, e)
		e.all = f[0].all
		e.isMade()
	}
	return f
}

// isMade makes a cluster of three that is well, at once: its members have their disks, pods and
// reports, and the agents rest.
func (e *env) isMade() {
	e.Helper()
	cluster := e.create(3)
	require.NoError(e, e.operator.makeForMembers(e.Context(), observation{Observed: plan.Observed{Cluster: cluster}}))
	primary, others := "db-1", []string{"db-2", "db-3"}
	for _, name := range append(others, primary) {
		role := plan.Standby
		if name == primary {
			role = plan.Primary
		}
		pod := e.operator.newPod(cluster, name)
		pod.Labels[plan.RoleLabel] = string(role)
		require.NoError(e, e.Create(e.Context(), newDisk(cluster, name)))
		require.NoError(e, e.Create(e.Context(), pod))
		e.run(pod)
		a := e.agents[name]
		a.rests, e.data[name] = true, true
		a.report = plan.Report{UID: pod.UID, Term: 1, Version: "17.6", Data: plan.Complete, Running: true, Timeline: 1, Following: primary}
	}
	leader := e.agents[primary]
	leader.report.Writable, leader.report.Following = true, ""
	leader.report.Names, leader.report.SyncedWith, leader.report.Streaming = "db-2", "db-2", others
	e.patch(&coordinationv1.Lease{}, "db", `{"spec":{"holderIdentity":"`+string(leader.uid)+`"}}`)
	cluster.Status = postgres.PostgresClusterStatus{
		Phase: postgres.Running, Term: 1, Primary: primary, PrimaryUID: leader.uid, Standby: "db-2", Synced: []string{primary, "db-2"}, Version: "17",
	}
	require.NoError(e, e.Status().Update(e.Context(), cluster))
}

func (f fleet) startOperator() (r *testrights.Requests, stop func()) {
	f[0].Helper()
	o := f[0].options()
	o.Namespace = ""
	return f[0].startOperatorWith(f[0].server.Config, o)
}

// settles waits until all is well, and has the agents rest.
func (f fleet) settles() {
	f[0].Helper()
	waits := slices.Clone(f)
	f[0].eventually(func() bool {
		waits = slices.DeleteFunc(waits, func(e *env) bool { e.simulate(); return isWell(e.cluster()) })
		return len(waits) == 0
	})
	for _, e := range f {
		e.rests(true)
	}
}

func (e *env) rests(so bool) {
	e.change(func() {
		for _, a := range e.agents {
			a.rests = so
		}
	})
}

// isAsked waits until each cluster has been looked at some times more.
func (f fleet) isAsked(times int) {
	f[0].Helper()
	f.asked()
	for _, e := range f {
		e.eventually(func() (is bool) {
			e.change(func() { is = len(e.asked) >= 3*times })
			return is
		})
	}
}

// asked is how many agents were asked since the last call.
func (f fleet) asked() (n int) {
	for _, e := range f {
		e.change(func() { n, e.asked = n+len(e.asked), nil })
	}
	return n
}

// rest prints what the operator asks in a second.
func (f fleet) rest(b *testing.B, requests *testrights.Requests) {
	b.Helper()
	f.isAsked(3)
	f.asked()
	requests.Take()
	begun := time.Now()
	<-time.After(time.Minute)
	counts, seconds := map[string]int{}, time.Since(begun).Seconds()
	all, asked := requests.Take(), f.asked()
	for _, request := range all {
		counts[request]++
	}
	row := func(what string, n int) { fmt.Printf("%-66s %8.2f\n", what, float64(n)/seconds) }
	fmt.Printf("\n%-66s %8s\n", "", "a second")
	for _, request := range slices.Sorted(maps.Keys(counts)) {
		row(request, counts[request])
	}
	row("requests to the API server", len(all))
	row("agents asked", asked)
	b.ReportMetric(float64(len(all))/seconds, "requests/s")
}

// fail prints how long it takes from the end of a primary until an election begins, ten times.
func (f fleet) fail(b *testing.B, how string, end func(e *env, primary string)) {
	b.Helper()
	var took []time.Duration
	for i, e := range f[:min(10, len(f))] {
		before := e.cluster().Status
		e.rests(false)
		begun := time.Now()
		end(e, before.Primary)
		e.eventually(func() bool { return e.cluster().Status.Term > before.Term })
		took = append(took, time.Since(begun))
		f[i : i+1].settles()
	}
	slices.Sort(took)
	fmt.Printf("until Electing, if %s: median %v, worst %v\n", how, took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
}

// heap is what is in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what a pool has kept through the first
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
