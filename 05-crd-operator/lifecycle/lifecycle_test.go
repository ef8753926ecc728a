package lifecycle

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// due is the schedule of the book's sample.
var due = time.Date(2019, 4, 12, 10, 12, 0, 0, time.UTC)

// newAt is the book's sample, as the server returns it.
func newAt(change ...func(*cnat.At)) *cnat.At {
	at := &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Namespace: "harbour", Name: "example-at", UID: "one", Generation: 1},
		Spec:       cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: "echo YAY"},
	}
	for _, f := range change {
		f(at)
	}
	return at
}

func schedule(s string) func(*cnat.At) {
	return func(at *cnat.At) { at.Spec.Schedule = s }
}

func deadlineSeconds(seconds int64) func(*cnat.At) {
	return func(at *cnat.At) { at.Spec.StartingDeadlineSeconds = &seconds }
}

// edited is an At whose spec was changed once.
func edited(at *cnat.At) { at.Generation = 2 }

func deletedAt(at *cnat.At) { at.DeletionTimestamp = &metav1.Time{Time: due} }

// after gives an At the status that it has after these observations.
func after(observed ...Observed) func(*cnat.At) {
	return func(at *cnat.At) {
		for _, o := range observed {
			o.At = at
			if d := Decide(o); d.Status != nil {
				at.Status = *d.Status
			}
		}
	}
}

// newPod is the pod of newAt, a second after it was due.
func newPod(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := DesiredPod(newAt(), DefaultImage)
	pod.CreationTimestamp = metav1.NewTime(due.Add(time.Second))
	for _, f := range change {
		f(pod)
	}
	return pod
}

func in(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = phase }
}

func exited(phase corev1.PodPhase, code int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Phase = phase
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "a-proxy", State: terminatedWith(77, due.Add(time.Hour))},
			{Name: "command", State: terminatedWith(code, due.Add(5*time.Second))},
		}
	}
}

func terminatedWith(code int32, at time.Time) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(at)}}
}

func deletedPod(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: due} }

func foreign(pod *corev1.Pod) { pod.OwnerReferences = nil }

// ofPredecessor is a pod of an At that had this name before.
func ofPredecessor(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "none" }

func failedBecause(reason, message string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Reason, pod.Status.Message = reason, message }
}

// words are a decision, a line for each thing that is to be done.
func words(d Decision) []string {
	var lines []string
	if d.CreatePod {
		lines = append(lines, "create the pod")
	}
	if d.RemoveFinalizer {
		lines = append(lines, "remove the finalizer")
	}
	if s := d.Status; s != nil {
		line := "become " + string(s.Phase)
		if s.PodName != "" {
			line += " in " + s.PodName
		}
		if s.StartTime != nil {
			line += " from " + clockTime(s.StartTime.Time)
		}
		if s.CompletionTime != nil {
			line += " to " + clockTime(s.CompletionTime.Time)
		}
		if s.ExitCode != nil {
			line += fmt.Sprintf(" with %d", *s.ExitCode)
		}
		lines = append(lines, line)
		for _, c := range s.Conditions {
			lines = append(lines, fmt.Sprintf("%s=%s since %s, of %d: %s: %s", c.Type, c.Status, clockTime(c.LastTransitionTime.Time), c.ObservedGeneration, c.Reason, c.Message))
		}
	}
	if d.Event != nil {
		lines = append(lines, fmt.Sprintf("record %s %s: %s", d.Event.Type, d.Event.Reason, d.Event.Note))
	}
	if !d.Wake.IsZero() {
		lines = append(lines, "wake at "+clockTime(d.Wake))
	}
	return lines
}

func clockTime(t time.Time) string { return t.UTC().Format("15:04:05.999999999") }

// testCase is one observation, and what is to be done about it.
type testCase struct {
	at   *cnat.At // newAt() if nil
	pod  *corev1.Pod
	late time.Duration // how long after the schedule it is
	want []string
}

func (s testCase) observed() Observed {
	if s.at == nil {
		s.at = newAt()
	}
	return Observed{At: s.at, Pod: s.pod, Now: due.Add(s.late)}
}

func run(t *testing.T, cases map[string]testCase) {
	for name, s := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, s.want, words(Decide(s.observed()))) })
	}
}

// running is an At whose pod is to be created, a second after it was due.
func running(at *cnat.At) {
	o := Observed{At: at, Now: due.Add(time.Second)}
	at.Status.Phase, at.Status.PodName, at.Status.StartTime = cnat.Running, PodName(at.Name), o.second()
	o.setStarted(&at.Status)
}

func done(at *cnat.At) { at.Status.Phase = cnat.Done }

func released(pod *corev1.Pod) { pod.Finalizers = nil }

func TestWhatIsOverIsLeftAlone(t *testing.T) {
	remove := []string{"remove the finalizer"}
	run(t, map[string]testCase{
		"an At that is being deleted is not started":               {at: newAt(deletedAt)},
		"an At that is being deleted does not get its pod":         {at: newAt(running, deletedAt)},
		"an At that is being deleted lets its pod go":              {at: newAt(running, deletedAt), pod: newPod(in(corev1.PodRunning)), want: remove},
		"an At that is being deleted does not report how it ended": {at: newAt(running, deletedAt), pod: newPod(exited(corev1.PodSucceeded, 0)), want: remove},
		"an At that is DONE is not run again":                      {at: newAt(done)},
		"an At that is DONE lets its pod go":                       {at: newAt(done), pod: newPod(exited(corev1.PodFailed, 1)), want: remove},
		"an At that is DONE has nothing more to do with its pod":   {at: newAt(done), pod: newPod(exited(corev1.PodFailed, 1), released)},
		"the pod of an At that was here before may go":             {pod: newPod(ofPredecessor), want: remove},
		"a pod that was orphaned may go":                           {pod: newPod(foreign), want: remove},
		"the finalizer of somebody else is none of our business":   {at: newAt(done), pod: newPod(func(p *corev1.Pod) { p.Finalizers = []string{"example.com/other"} })},
		"the pod of an At that waits, which is unknown, stays":     {pod: newPod(), late: -time.Hour, want: words(Decide(Observed{At: newAt(), Now: due.Add(-time.Hour)}))},
	})
	assert.Equal(t, remove, words(Decide(Observed{Pod: newPod()})), "there is no At")
	assert.Zero(t, Decide(Observed{Pod: newPod(released)}))
	assert.Zero(t, Decide(Observed{}))
}

func TestWhatIsReadLive(t *testing.T) {
	late := due.Add(time.Hour)
	for name, test := range map[string]struct {
		o       Observed
		at, pod bool
	}{
		"nothing, before its time":                            {Observed{At: newAt(), Now: due.Add(-1)}, false, false},
		"nothing, when it is due: the resource version does":  {Observed{At: newAt(), Now: due}, false, false},
		"the At, before the pod is created":                   {Observed{At: newAt(running), Now: due}, true, false},
		"the At, while a foreign pod is in the way":           {Observed{At: newAt(running), Pod: newPod(foreign, released), Now: due}, true, false},
		"the pod, too, before it is given up":                 {Observed{At: newAt(deadlineSeconds(9), running), Now: late}, true, true},
		"nothing, once the pod is there":                      {Observed{At: newAt(running), Pod: newPod(), Now: late}, false, false},
		"nothing, once the pod is there, with a deadline":     {Observed{At: newAt(deadlineSeconds(9), running), Pod: newPod(), Now: late}, false, false},
		"nothing, when the deadline passes without a pod":     {Observed{At: newAt(deadlineSeconds(9)), Now: late}, false, false},
		"nothing, when it is DONE":                            {Observed{At: newAt(done), Pod: newPod(), Now: late}, false, false},
		"nothing, when it is being deleted":                   {Observed{At: newAt(running, deletedAt), Now: late}, false, false},
		"the At, if it is not there and its pod is":           {Observed{Pod: newPod(), Now: due}, true, false},
		"the At, if the pod is of another one":                {Observed{At: newAt(), Pod: newPod(ofPredecessor), Now: due}, true, false},
		"the At, if it is DONE and the pod is of another one": {Observed{At: newAt(done), Pod: newPod(ofPredecessor), Now: due}, true, false},
		"nothing, if the pod has been let go":                 {Observed{Pod: newPod(released), Now: due}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.at, NeedsLiveAt(test.o))
			assert.Equal(t, test.pod, NeedsLivePod(test.o))
		})
	}
}
