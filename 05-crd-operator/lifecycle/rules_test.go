package lifecycle

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// everything is each At in each state, with each pod, at each time.
func everything(visit func(name string, o Observed)) {
	ats := map[string]func(*cnat.At){
		"a plain At":           func(*cnat.At) {},
		"an edited At":         edited,
		"an At with deadline":  deadlineSeconds(9),
		"an At with no delay":  deadlineSeconds(0),
		"an At going away":     deletedAt,
		"an At at seven":       schedule("at seven"),
		"an At with long word": schedule(strings.Repeat("seven ", 1000)),
		"an At at a fraction":  schedule("2019-04-12T10:12:00.5Z"),
		"an At in 9999":        schedule("9999-12-31T23:59:59Z"),
	}
	statuses := map[string]func(*cnat.At){
		"new":           func(*cnat.At) {},
		"waiting":       after(Observed{Now: due.Add(-time.Hour)}),
		"blocked":       func(at *cnat.At) { schedule("at seven")(at); after(Observed{Now: due})(at) },
		"running":       after(Observed{Now: due}),
		"refused":       func(at *cnat.At) { running(at); blockedByQuota(at) },
		"done":          after(Observed{Now: due}, Observed{Now: due, Pod: newPod(in(corev1.PodSucceeded))}),
		"only a phase":  func(at *cnat.At) { at.Status.Phase = cnat.Running },
		"foreign phase": func(at *cnat.At) { at.Status.Phase = "WAITING" },
	}
	for atName, at := range ats {
		for statusName, status := range statuses {
			anyPodAnyTime(func(name string, pod *corev1.Pod, now time.Time) {
				visit(atName+", "+statusName+", "+name, Observed{At: newAt(at, status, at), Pod: pod, Now: now})
			})
		}
	}
	anyPodAnyTime(func(name string, pod *corev1.Pod, now time.Time) {
		visit("no At, "+name, Observed{Pod: pod, Now: now})
	})
}

// anyPodAnyTime is everything but the At.
func anyPodAnyTime(visit func(name string, pod *corev1.Pod, now time.Time)) {
	pods := map[string]*corev1.Pod{
		"no pod":              nil,
		"a new pod":           newPod(),
		"a running pod":       newPod(in(corev1.PodRunning)),
		"a pod going away":    newPod(in(corev1.PodRunning), deletedPod),
		"a succeeded pod":     newPod(exited(corev1.PodSucceeded, 0)),
		"a pod with a proxy":  newPod(besideProxy(0)),
		"a failed pod":        newPod(exited(corev1.PodFailed, 1), deletedPod),
		"a pod with words":    newPod(in(corev1.PodFailed), failedBecause("no luck", strings.Repeat("é", 1000))),
		"a pod let go":        newPod(exited(corev1.PodSucceeded, 0), released),
		"a foreign pod":       newPod(foreign, released),
		"a foreign pod going": newPod(foreign, released, deletedPod),
		"an orphan":           newPod(foreign),
		"an old pod":          newPod(ofPredecessor),
		"an old pod let go":   newPod(ofPredecessor, released),
	}
	for name, pod := range pods {
		for _, late := range []time.Duration{-24 * time.Hour, -1, 0, 1, time.Second, 9 * time.Second, 10 * time.Second, time.Hour} {
			visit(fmt.Sprintf("%s, %s late", name, late), pod, due.Add(late))
		}
	}
}

// doDecided does what was decided. It returns what is observed after it.
func doDecided(o Observed, d Decision) Observed {
	if d.CreatePod {
		o.Pod = DesiredPod(o.At, DefaultImage)
	}
	if d.RemoveFinalizer {
		o.Pod = o.Pod.DeepCopy()
		o.Pod.Finalizers = nil
	}
	if d.Status != nil {
		o.At = o.At.DeepCopy()
		o.At.Status = *d.Status
	}
	return o
}

// writes is how many things are to be done.
func writes(d Decision) (n int) {
	for _, yes := range []bool{d.Status != nil, d.CreatePod, d.RemoveFinalizer} {
		if yes {
			n++
		}
	}
	return n
}

// aboutNothing is said of a rule that holds because nothing was decided.
const aboutNothing = "the rule holds, but nothing is decided that it is about"

func TestOneThingIsDoneAtATime(t *testing.T) {
	everything(func(name string, o Observed) {
		d := Decide(o)
		assert.LessOrEqual(t, writes(d), 1, name)
		assert.True(t, d.Event == nil || writes(d) == 1, "%s: an event without a write is recorded forever", name)
	})
}

func TestThereIsAnEndOfIt(t *testing.T) {
	everything(func(name string, o Observed) {
		for range 4 { // RUNNING, the pod, DONE, its finalizer; and once more the status of what was edited
			o = doDecided(o, Decide(o))
		}
		assert.Zero(t, writes(Decide(o)), name)
	})
}

func TestAnAtGoesThroughFiveWrites(t *testing.T) {
	var made []string
	o := Observed{At: newAt(), Now: due.Add(-time.Hour)}
	for range 7 { // one more than it takes
		d := Decide(o)
		if writes(d) == 0 {
			o.Now = due
			continue
		}
		made = append(made, words(d)[0])
		o = doDecided(o, d)
		if d.CreatePod {
			in(corev1.PodSucceeded)(o.Pod)
		}
	}
	assert.Equal(t, []string{
		"become PENDING",
		"become RUNNING in example-at-pod from 10:12:00",
		"create the pod",
		"become DONE in example-at-pod from 10:12:00 to 10:12:00",
		"remove the finalizer",
	}, made)
}

func TestWhatCannotBeUndoneIsDecidedOnALiveRead(t *testing.T) {
	created, released, givenUp := 0, 0, 0
	everything(func(name string, o Observed) {
		d := Decide(o)
		if d.CreatePod {
			created++
			assert.True(t, NeedsLiveAt(o), "%s: the pod is created for an At that may be gone", name)
			assert.Equal(t, cnat.Running, o.At.Status.Phase, name)
			assert.Nil(t, o.At.DeletionTimestamp, name)
			assert.Nil(t, o.Pod, name)
		}
		if d.RemoveFinalizer && !IsPodOf(o.Pod, o.At) {
			released++
			assert.True(t, NeedsLiveAt(o), "%s: the pod is let go for an At that may be there", name)
		}
		if d.Status != nil && d.Status.Phase == cnat.Done && o.At.Status.Phase == cnat.Running && !IsPodOf(o.Pod, o.At) {
			givenUp++
			assert.True(t, NeedsLivePod(o), "%s: given up with a pod that may be there", name)
		}
	})
	assert.Positive(t, min(created, released, givenUp), aboutNothing)
}

func TestTheTimeToWakeIsInTheFuture(t *testing.T) {
	woken := 0
	everything(func(name string, o Observed) {
		d := Decide(o)
		if !d.Wake.IsZero() {
			woken++
		}
		assert.True(t, d.Wake.IsZero() || d.Wake.After(o.Now), "%s: woken at %s, it is %s", name, d.Wake, o.Now)
		assert.False(t, d.CreatePod && !d.Wake.IsZero(), "%s: the pod wakes the operator", name)
	})
	assert.Positive(t, woken, aboutNothing)
}

func TestAPodThatExistsIsNotLetGoBeforeTheEnd(t *testing.T) {
	released := 0
	everything(func(name string, o Observed) {
		if Decide(o).RemoveFinalizer && IsPodOf(o.Pod, o.At) {
			released++
			assert.True(t, o.At.Status.Phase == cnat.Done || o.At.DeletionTimestamp != nil, name)
		}
	})
	assert.Positive(t, released, aboutNothing)
}

func TestNoPhaseGoesBack(t *testing.T) {
	order := map[cnat.AtPhase]int{"": 0, "WAITING": 0, cnat.Pending: 1, cnat.Running: 2, cnat.Done: 3}
	everything(func(name string, o Observed) {
		if d := Decide(o); d.Status != nil {
			assert.GreaterOrEqual(t, order[d.Status.Phase], order[o.At.Status.Phase], name)
			assert.NotEqual(t, cnat.Done, o.At.Status.Phase, name)
		}
	})
}

func TestTheServerTakesWhatIsDecided(t *testing.T) {
	form := regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`) // of the schema
	everything(func(name string, o Observed) {
		d := Decide(o)
		if d.Status != nil {
			assert.Contains(t, []cnat.AtPhase{cnat.Pending, cnat.Running, cnat.Done}, d.Status.Phase, name)
			for _, c := range d.Status.Conditions {
				assert.Regexp(t, form, c.Reason, name)
				assert.NotEmpty(t, c.LastTransitionTime, name)
				assert.LessOrEqual(t, len(c.Message), 32768, name)
			}
		}
		if d.Event != nil {
			assert.LessOrEqual(t, len(d.Event.Note), 1024, name)
			assert.LessOrEqual(t, len(d.Event.Reason), 128, name)
		}
	})
}

func TestDecidingChangesNothing(t *testing.T) {
	everything(func(name string, o Observed) {
		at, pod := o.At.DeepCopy(), o.Pod.DeepCopy()
		Decide(o)
		NeedsLiveAt(o)
		NeedsLivePod(o)
		assert.Equal(t, at, o.At, name)
		assert.Equal(t, pod, o.Pod, name)
	})
}
