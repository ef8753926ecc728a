package operator

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// longestGap is how much of the time between two rounds of questions counts as silence: a
// timeout and a pause. An operator that was frozen, or could not read the cluster, has not
// asked, and must not take its own silence for that of all members.
const longestGap = statusTimeout + whileSettled

// tracker is since when something is as it is, by the operator's clock. It is all that the
// operator remembers: an operator that starts anew waits for longer, and does nothing else.
type tracker struct {
	mu       sync.Mutex
	clusters map[types.NamespacedName]*clusterTracker
	lags     map[types.NamespacedName]map[string]plan.LSN // of standbys, when they were asked last
}

// of returns what is known of a cluster. The queue gives a cluster to one worker at a time.
func (t *tracker) of(cluster types.NamespacedName) *clusterTracker {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clusters == nil {
		t.clusters = map[types.NamespacedName]*clusterTracker{}
	}
	if t.clusters[cluster] == nil {
		t.clusters[cluster] = &clusterTracker{silence: map[types.UID]time.Duration{}, last: map[string]*plan.Report{}}
	}
	return t.clusters[cluster]
}

func (t *tracker) forget(cluster types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.clusters, cluster)
	delete(t.lags, cluster)
}

// setLags remembers how much of the primary's log each standby lacks.
func (t *tracker) setLags(cluster types.NamespacedName, lags map[string]plan.LSN) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lags == nil {
		t.lags = map[types.NamespacedName]map[string]plan.LSN{}
	}
	t.lags[cluster] = lags
}

// lagsOf returns what was remembered last. Nobody changes it.
func (t *tracker) lagsOf(cluster types.NamespacedName) map[string]plan.LSN {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lags[cluster]
}

type clusterTracker struct {
	renewal string                      // the resource version of the Lease
	since   time.Time                   // when it was seen first
	asked   time.Time                   // when the agents were asked last
	silence map[types.UID]time.Duration // how long each has been asked in vain
	last    map[string]*plan.Report     // the last report of each member
	seen    plan.LSN                    // how far any of them said that its log goes
	foreign []string                    // what was in the way when the shared objects were restored last
	rested  plan.Observed               // what was read live when it was found at rest; its Now is zero if it is not
}

// expired reports whether the Lease has not changed for as long as it lasts. It was read
// between asked and now: what was there at the second may be as young as that, and what was
// there at the first may have been renewed a moment later.
func (t *clusterTracker) expired(lease *coordinationv1.Lease, asked, now time.Time) bool {
	if lease.ResourceVersion != t.renewal {
		t.renewal, t.since = lease.ResourceVersion, now
	}
	return asked.Sub(t.since) >= plan.LeaseDuration
}

// hear remembers which pods' agents have answered now, and forgets all other pods.
func (t *clusterTracker) hear(answered map[types.UID]bool, now time.Time) {
	gap := min(now.Sub(t.asked), longestGap)
	t.asked = now
	silence := map[types.UID]time.Duration{}
	for pod, answers := range answered {
		if before, known := t.silence[pod]; known && !answers {
			silence[pod] = before + gap
		} else {
			silence[pod] = 0
		}
	}
	t.silence = silence
}
