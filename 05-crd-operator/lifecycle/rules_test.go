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
		"an At with deadline":  deadline(9),
		"an At with no delay":  deadline(0),
		"an At going away":     deletedAt,
		"an At at seven":       schedule("at seven"),
		"an At with long word": schedule(strings.Repeat("seven ", 1000)),
		"an At at a fraction":  schedule("2019-04-12T10:12:00.5Z"),
		"an At in 9999":        schedule("9999-12-31T23:59:59Z"),
	}
	statuses := map[string]func(*cnat.At){
		"new":           func(*cnat.At) {},
		"waiting":       after(Observed{Now: due.Add(-time.Hour)}),
		"blocked":       after(Observed{Now: due, Pod: newPod(foreign)}),
		"running":       after(Observed{Now: due, Pod: newPod()}),
		"done":          after(Observed{Now: due, Pod: newPod(in(corev1.PodSucceeded))}),
		"only a phase":  func(at *cnat.At) { at.Status.Phase = cnat.Running },
		"foreign phase": func(at *cnat.At) { at.Status.Phase = "WAITING" },
	}
	for atName, at := range ats {
		for statusName, status := range statuses {
			anyPodAnyTime(func(name string, pod *corev1.Pod, started bool, now time.Time) {
				at := newAt(status, at)
				visit(atName+", "+statusName+", "+name, Observed{At: at, Pod: pod, Started: started, Now: now})
			})
		}
	}
}

// anyPodAnyTime is everything but the At.
func anyPodAnyTime(visit func(name string, pod *corev1.Pod, started bool, now time.Time)) {
	pods := map[string]*corev1.Pod{
		"no pod":              nil,
		"a new pod":           newPod(),
		"a running pod":       newPod(in(corev1.PodRunning)),
		"a pod going away":    newPod(in(corev1.PodRunning), deletedPod),
		"a succeeded pod":     newPod(exited(corev1.PodSucceeded, 0)),
		"a failed pod":        newPod(exited(corev1.PodFailed, 1), deletedPod),
		"a pod with words":    newPod(in(corev1.PodFailed), failedBecause("no luck", strings.Repeat("é", 1000))),
		"a foreign pod":       newPod(foreign),
		"a foreign pod going": newPod(foreign, deletedPod),
		"an old pod":          newPod(ofPredecessor),
	}
	for name, pod := range pods {
		for _, late := range []time.Duration{-24 * time.Hour, -1, 0, 1, time.Second, 9 * time.Second, 10 * time.Second, time.Hour} {
			for _, started := range []bool{false, true} {
				visit(fmt.Sprintf("%s, %s late, started %t", name, late, started), pod, started, due.Add(late))
			}
		}
	}
}

// doDecided does what was decided. It returns what is observed after it.
func doDecided(o Observed, d Decision) Observed {
	if d.CreatePod {
		o.Pod, o.Started = DesiredPod(o.At), true
	}
	if d.Status != nil {
		o.At = o.At.DeepCopy()
		o.At.Status = *d.Status
	}
	return o
}

func TestWhatWasDecidedIsNotDecidedAgain(t *testing.T) {
	everything(func(name string, o Observed) {
		once := Decide(o)
		assert.False(t, once.CreatePod && once.Status != nil, "%s: one thing at a time", name)
		assert.True(t, once.Event == nil || once.Status != nil, "%s: an event without a status is told for ever", name)
		o = doDecided(o, once)
		if once.CreatePod {
			o = doDecided(o, Decide(o)) // RUNNING is another thing to do
			assert.Equal(t, cnat.Running, o.At.Status.Phase, name)
		}
		again := Decide(o)
		assert.Empty(t, words(Decision{CreatePod: again.CreatePod, Status: again.Status, Event: again.Event}), name)
		assert.Equal(t, once.Wake, again.Wake, name)
	})
}

func TestTheTimeToWakeIsInTheFuture(t *testing.T) {
	everything(func(name string, o Observed) {
		d := Decide(o)
		assert.True(t, d.Wake.IsZero() || d.Wake.After(o.Now), "%s: woken at %s, it is %s", name, d.Wake, o.Now)
		assert.False(t, d.CreatePod && !d.Wake.IsZero(), "%s: the pod wakes the operator", name)
	})
}

func TestAPodIsCreatedOnceAtMost(t *testing.T) {
	everything(func(name string, o Observed) {
		if !Decide(o).CreatePod {
			return
		}
		assert.True(t, !o.Started && o.Pod == nil && o.At.Status.Phase != cnat.Running && o.At.Status.Phase != cnat.Done, "%s: created again", name)
		// Whatever comes after that.
		o = doDecided(o, Decision{CreatePod: true})
		anyPodAnyTime(func(later string, pod *corev1.Pod, _ bool, now time.Time) {
			seen := Observed{At: o.At, Pod: pod, Started: true, Now: now}
			assert.False(t, Decide(seen).CreatePod, "%s; then %s", name, later)
		})
	})
}

func TestNothingLeavesDONE(t *testing.T) {
	everything(func(name string, o Observed) {
		if d := Decide(o); d.Status != nil && d.Status.Phase == cnat.Done {
			over := doDecided(o, d).At
			anyPodAnyTime(func(later string, pod *corev1.Pod, started bool, now time.Time) {
				assert.Zero(t, Decide(Observed{At: over, Pod: pod, Started: started, Now: now}), "%s; then %s", name, later)
			})
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
		LostPod(o)
		assert.Equal(t, at, o.At, name)
		assert.Equal(t, pod, o.Pod, name)
	})
}
