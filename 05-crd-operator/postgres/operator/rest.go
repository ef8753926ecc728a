package operator

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// A silent member says nothing, so the operator asks. While there is no primary, it asks more often.
const (
	whileLeaderless = 50 * time.Millisecond
	whileUnsettled  = 250 * time.Millisecond
	whileSettled    = time.Second
)

// pause is how long nobody needs to look. What Kubernetes reports wakes the operator earlier.
func pause(o plan.Observed, d plan.Decision) time.Duration {
	s := o.Cluster.Status
	switch {
	case d.Action != plan.None:
		return time.Millisecond
	case o.Cluster.Spec.Paused, s.Phase == "", s.Phase == postgres.Unsafe, settled(o):
		return whileSettled
	case s.Phase == postgres.Electing, s.Phase == postgres.Promoting:
		return whileLeaderless
	}
	return whileUnsettled
}

// settled reports whether the cluster has what is wanted.
func settled(o plan.Observed) bool {
	s, size := o.Cluster.Status, o.Cluster.Spec.Size
	return s.Phase == postgres.Running && s.Replicas == size && len(s.Synced) == min(2, int(size))
}

// trustCacheFor is how long a cluster at rest is read from the cache only.
const trustCacheFor = 20 * time.Second

// atRest reports whether a cluster is at rest, and costs the API server nothing: the objects are read
// from the cache, the agents are asked directly, and the decision is to do nothing. If it is anything
// else, the caller observes the cluster again, live, and asks the agents again.
//
// So a stale cache does no harm. Nobody is promoted and nothing is deleted because of it; all that it
// can do is keep the operator from acting. To the members that is a slow operator, and the search in
// plan has it: the operator may always do nothing.
//
// Nor does a stale cache hide for long that there is something to do. A change of an object is an
// event. A primary that doesn't answer is noticed by asking it, as soon as before. If an event is late
// or lost, the next live read finds what it was about. It also finds what isn't in the cache: backups,
// which don't have the label of members, and the Lease, which changes each second and matters only
// while there is no primary.
func (r *Reconciler) atRest(ctx context.Context, name types.NamespacedName) (observation, bool) {
	tracker := r.trackerOf(name)
	if r.Clock.Now().Sub(tracker.rested.Now) < trustCacheFor {
		o, err := r.observeFrom(ctx, r.Client, name, tracker.rested)
		if err == nil && rests(o.Observed, plan.Cluster(o.Observed)) && !o.Describe(o.Cluster.Status.DeepCopy()) {
			return o, true
		}
	}
	tracker.rested = plan.Observed{}
	return observation{}, false
}

// rests reports whether there is nothing to do, and whatever comes next is an event, or an agent
// reports it: all of them answer.
func rests(o plan.Observed, d plan.Decision) bool {
	silent := func(m plan.Member) bool { return m.Report == nil }
	return d.Action == plan.None && settled(o) && o.Backup.Pod == nil && !slices.ContainsFunc(o.Members, silent) &&
		controllerutil.ContainsFinalizer(o.Cluster, finalizer)
}

// remember keeps what was read live of a cluster at rest, without what is in the cache.
func (t *tracker) remember(o plan.Observed) {
	o.Cluster, o.Members = nil, nil
	t.rested = o
}
