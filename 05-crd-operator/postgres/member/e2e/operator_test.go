package e2e

import (
	"cmp"
	"slices"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// update changes the status, and returns it. It also writes where members are, as they have reported
// last: what is left out now would be missing until the next change.
func (e *env) update(change func(*postgres.PostgresClusterStatus)) postgres.PostgresClusterStatus {
	e.Helper()
	cluster := &postgres.PostgresCluster{}
	require.NoError(e, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: "db"}, cluster); err != nil {
			return err
		}
		s := &cluster.Status
		change(s)
		s.Members = nil
		for name, a := range e.agents {
			_, _ = a.report()
			if r := a.last.Load(); r != nil {
				s.Members = append(s.Members, postgres.MemberStatus{Name: name, Address: cmp.Or(e.addresses[name], r.Address), Storage: e.storage, Full: r.Full || name == e.full})
			}
		}
		return e.client.Status().Update(e.Context(), cluster)
	}))
	return cluster.Status
}

// seed makes the database of the first member, which is then the primary without a standby.
func (e *env) seed() *agent {
	e.Helper()
	first := e.start("db-1")
	e.update(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Primary = postgres.Seeding, 1, "db-1"
	})
	first.awaits("makes a database", func(r report) bool { return r.Running })
	return e.promote("db-1", "")
}

// seedTwo makes a database with a row in it, and a standby that commits wait for.
func (e *env) seedTwo() (primary, standby *agent) {
	e.Helper()
	primary = e.seed()
	primary.sql(createRows)
	standby = e.join("db-2")
	e.sync("db-2")
	return primary, standby
}

// beginElection has no primary any more.
func (e *env) beginElection() {
	e.Helper()
	e.update(func(s *postgres.PostgresClusterStatus) {
		s.Phase, s.Term, s.Primary, s.PrimaryUID = postgres.Electing, s.Term+1, "", ""
	})
}

// electIn elects in this term, as if the elections before it had come to nothing.
func (e *env) electIn(term int64, name, standby string) *agent {
	e.Helper()
	e.beginElection()
	e.eventually(func() bool { return e.holder() == "" }, "the Lease is free")
	e.update(func(s *postgres.PostgresClusterStatus) { s.Term = term })
	return e.promote(name, standby)
}

// elect makes a member the primary, and another the standby that commits wait for.
func (e *env) elect(name, standby string) *agent {
	e.Helper()
	e.beginElection()
	e.eventually(func() bool { return e.holder() == "" }, "the Lease is free")
	return e.promote(name, standby)
}

func (e *env) promote(name, standby string) *agent {
	e.Helper()
	a := e.beginPromotion(name, standby)
	e.serve()
	return a
}

// serve tells all members that the primary takes writes.
func (e *env) serve() {
	e.Helper()
	e.update(func(s *postgres.PostgresClusterStatus) { s.Phase = postgres.Running })
}

// beginPromotion makes a member the primary, and tells the others nothing yet.
func (e *env) beginPromotion(name, standby string) *agent {
	e.Helper()
	a := e.agents[name]
	status := e.update(func(s *postgres.PostgresClusterStatus) {
		if r := a.last.Load(); r != nil { // a database that was restored has a timeline of its own
			s.Term = max(s.Term, int64(r.Timeline))
		}
		s.Phase, s.Standby = postgres.Promoting, standby
		s.Primary, s.PrimaryUID, s.Synced = name, a.uid, []string{name}
	})
	r := a.awaits("takes writes", func(r report) bool { return r.Writable && r.Term == status.Term })
	// What functions of SQL say about timelines is old right after a promotion.
	require.Equal(e, plan.TimelineOf(status.Term), r.Timeline, "the timeline when it begins to take writes")
	return a
}

// join adds a member, and waits until it receives from the primary.
func (e *env) join(name string) *agent {
	e.Helper()
	a := e.start(name)
	e.streams(name)
	return a
}

func (e *env) streams(name string) {
	e.Helper()
	primary := e.primary()
	// The primary may still see the connection of an agent of that name that has ended.
	e.agents[name].awaits("receives the log of "+primary.name, func(r report) bool { return r.Following == primary.name })
	primary.awaits("sends its log to "+name, func(r report) bool { return slices.Contains(r.Streaming, name) })
}

// sync has commits wait for a standby.
func (e *env) sync(name string) {
	e.Helper()
	e.update(func(s *postgres.PostgresClusterStatus) { s.Standby, s.Synced = name, []string{s.Primary} })
	e.primary().awaits("has commits wait for "+name, func(r report) bool { return r.SyncedWith == name })
	e.update(func(s *postgres.PostgresClusterStatus) { s.Synced = []string{s.Primary, name} })
}

func (e *env) primary() *agent {
	e.Helper()
	cluster := &postgres.PostgresCluster{}
	require.NoError(e, e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: "db"}, cluster))
	return e.agents[cluster.Status.Primary]
}

// freeLease frees the Lease of a pod that has ended, or has not renewed it for too long.
func (e *env) freeLease() {
	e.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "db"}}
	require.NoError(e, e.client.Patch(e.Context(), lease, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"holderIdentity":null}}`))))
}
