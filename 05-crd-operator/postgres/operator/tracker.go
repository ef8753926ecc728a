package operator

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// longestGap is how much of the time between two rounds of questions counts as silence: a
// timeout and a pause. An operator that was frozen, or could not read the cluster, has not
// asked, and must not take its own silence for that of all members.
const longestGap = statusTimeout + whileSettled

// tracker is since when something is as it is in a cluster, by the operator's clock. It is all that the
// operator remembers: an operator that starts again waits for longer, and does nothing else.
// Nothing in it is compared with a time that others have written, so it does not matter whether
// the clock is right; and a clock that is set makes no difference, because times of Go have a
// second reading, of a clock that is never set, and Sub uses that.
type tracker struct {
	renewal string                      // the resource version of the Lease
	since   time.Time                   // when it was seen first
	asked   time.Time                   // when the agents were asked last
	silence map[types.UID]time.Duration // how long each has been asked in vain
	looked  time.Time                   // when the phase was read last
	without time.Duration               // how long there has been no primary
	backup  age                         // of the last base backup
	refusal string                      // why the pod of the next one could not be made
	updates map[string]*updates         // of each member
	last    map[string]*plan.Report     // the last report of each member
	seen    plan.LSN                    // how far any of them said that its log goes
	foreign []string                    // what was in the way when the shared objects were restored last
	rested  plan.Observed               // what was read live when it was found at rest; its Now is zero if it is not
}

// trackerOf returns what is known of a cluster. The queue gives a cluster to one worker at a time.
func (r *Reconciler) trackerOf(cluster types.NamespacedName) *tracker {
	t, _ := r.trackers.LoadOrStore(cluster, &tracker{last: map[string]*plan.Report{}, updates: map[string]*updates{}})
	return t.(*tracker)
}

// expired reports whether the Lease has not changed for as long as it lasts. It was read
// between asked and now: what was there at the second may be as young as that, and what was
// there at the first may have been renewed a moment later.
func (t *tracker) expired(lease *coordinationv1.Lease, asked, now time.Time) bool {
	if lease.ResourceVersion != t.renewal {
		t.renewal, t.since = lease.ResourceVersion, now
	}
	return asked.Sub(t.since) >= plan.LeaseDuration
}

// leaderless remembers the phase, and returns how long there has been no primary. As with silence,
// the time in which nobody looked does not count.
func (t *tracker) leaderless(phase postgres.Phase, now time.Time) time.Duration {
	switch {
	case plan.Serving(phase):
		t.without, t.looked = 0, time.Time{}
		return 0
	case !t.looked.IsZero():
		t.without += min(now.Sub(t.looked), longestGap)
	}
	t.looked = now
	return t.without
}

// age measures how old something is that is made again and again.
type age struct {
	made   time.Time     // the date of the last one; zero if there is none
	seen   time.Time     // when the operator saw it first
	before time.Duration // how old it was then
}

// of returns the age of what was made last. One that comes while the operator looks is new, whatever
// its date; of one that was there before, nothing is known but the date.
func (a *age) of(made, now time.Time) time.Duration {
	switch {
	case a.seen.IsZero() && !made.IsZero():
		*a = age{made, now, max(0, now.Sub(made))}
	case a.seen.IsZero(), !made.Equal(a.made):
		*a = age{made, now, 0}
	}
	return a.before + now.Sub(a.seen)
}

// hear remembers which pods' agents have answered now, and forgets all other pods.
func (t *tracker) hear(answered map[types.UID]bool, now time.Time) {
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
