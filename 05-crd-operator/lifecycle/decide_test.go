package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// besideProxy is a pod whose proxy, which a webhook has added, runs on when the command has ended.
func besideProxy(code int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		exited(corev1.PodRunning, code)(pod)
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	}
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

const (
	taken      = "the pod example-at-pod exists, and this At is not its owner: somebody else made the pod, or took away its owner reference; see which of them, before you delete the pod, or create this At under another name"
	unlabelled = "the pod example-at-pod has lost its label, and cannot be followed; put it back: kubectl label --overwrite pod example-at-pod app.kubernetes.io/managed-by=cnat"
)

var (
	create   = []string{"create the pod", "record Normal Started: the pod example-at-pod runs the command"}
	pods     = schema.GroupResource{Resource: "pods"}
	errQuota = apierrors.NewForbidden(pods, "example-at-pod", errors.New("exceeded quota: one, requested: pods=1, used: pods=1, limited: pods=1"))
)

func TestAnAtThatIsRunningGetsItsPod(t *testing.T) {
	missed := []string{
		"become DONE",
		"Scheduled=False since 10:12:10, of 1: StartingDeadlineExceeded: " + tooLate9,
		"Failed=True since 10:12:10, of 1: StartingDeadlineExceeded: " + tooLate9,
		"record Warning StartingDeadlineExceeded: " + tooLate9,
	}
	run(t, map[string]testCase{
		"at once":                              {at: newAt(running), want: create},
		"however late it is":                   {at: newAt(running), late: time.Hour, want: create},
		"though the clock was set back":        {at: newAt(running), late: -time.Hour, want: create},
		"until its deadline":                   {at: newAt(deadlineSeconds(9), running), late: 10*time.Second - 1, want: create},
		"and not after it":                     {at: newAt(deadlineSeconds(9), running), late: 10 * time.Second, want: missed},
		"nor after it, with a pod in the way":  {at: newAt(deadlineSeconds(9), running), pod: newPod(foreign, released), late: 10 * time.Second, want: missed},
		"after what was in the way is gone":    {at: newAt(running, blockedByQuota), want: create},
		"not while another is in its place":    {at: newAt(running), pod: newPod(ofPredecessor, released), want: []string{"wake at 10:12:10"}},
		"only if the phase says so, not alone": {at: newAt(func(at *cnat.At) { at.Status.Phase = cnat.Running }), want: create},
	})
}

func TestThePodExists(t *testing.T) {
	inTheWay := []string{
		"become RUNNING in example-at-pod from 10:12:01",
		"Scheduled=False since 10:12:02, of 1: PodNameTaken: " + taken,
		"record Warning PodNameTaken: " + taken,
		"wake at 10:12:12",
	}
	lost := []string{
		"become RUNNING in example-at-pod from 10:12:01",
		"Scheduled=False since 10:12:02, of 1: PodLabelRemoved: " + unlabelled,
		"record Warning PodLabelRemoved: " + unlabelled,
		"wake at 10:12:12",
	}
	ofTheNewSpec := []string{inTheWay[0], strings.Replace(inTheWay[1], "of 1", "of 2", 1), inTheWay[2], inTheWay[3]}
	again := []string{"wake at 10:12:12"}
	noLabel := func(p *corev1.Pod) { delete(p.Labels, ManagedBy) }
	reported := func(at *cnat.At) {
		at.Status = *Exists(Observed{At: at, Now: due.Add(2 * time.Second)}, newPod(foreign)).Status
	}
	for name, test := range map[string]struct {
		at   *cnat.At // RUNNING if nil
		pod  *corev1.Pod
		want []string
	}{
		"ours, and the cache does not show it":           {pod: newPod()},
		"ours, and somebody has removed its label":       {pod: newPod(noLabel), want: lost},
		"ours, with another label":                       {pod: newPod(func(p *corev1.Pod) { p.Labels[ManagedBy] = "helm" }), want: lost},
		"it is foreign":                                  {pod: newPod(foreign), want: inTheWay},
		"it is foreign, and has ended":                   {pod: newPod(foreign, exited("Succeeded", 0)), want: inTheWay},
		"it is another controller's":                     {pod: newPod(func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Job"; p.OwnerReferences[0].UID = "job" }), want: inTheWay},
		"it is another At's":                             {pod: newPod(func(p *corev1.Pod) { p.OwnerReferences[0].Name = "other"; p.OwnerReferences[0].UID = "other" }), want: inTheWay},
		"it is foreign, which was reported":              {at: newAt(running, reported), pod: newPod(foreign), want: again},
		"it is foreign, and the spec is another since":   {at: newAt(running, reported, edited), pod: newPod(foreign), want: ofTheNewSpec},
		"it is foreign, and on its way out":              {pod: newPod(foreign, deletedPod), want: again},
		"it is of an At of this name that is gone":       {pod: newPod(ofPredecessor), want: again},
		"it is of an At that is gone, and has ended":     {pod: newPod(ofPredecessor, exited("Succeeded", 0)), want: again},
		"it is of an At that is gone, and on its way":    {pod: newPod(ofPredecessor, deletedPod), want: again},
		"it was there, and is gone":                      {want: again},
		"it is foreign, and the deadline comes before":   {at: newAt(deadlineSeconds(3), running, reported), pod: newPod(foreign), want: []string{"wake at 10:12:03"}},
		"it is foreign, and the deadline comes by then":  {at: newAt(deadlineSeconds(11), running, reported), pod: newPod(foreign), want: []string{"wake at 10:12:03"}},
		"it is foreign, and the deadline is very near":   {at: newAt(deadlineSeconds(1), running, reported, schedule("2019-04-12T10:12:00.5Z")), pod: newPod(foreign), want: []string{"wake at 10:12:02.5"}},
		"it is foreign, and the deadline comes later":    {at: newAt(deadlineSeconds(60), running, reported), pod: newPod(foreign), want: again},
		"it is foreign, and the schedule cannot be read": {at: newAt(deadlineSeconds(3), running, reported, schedule("at seven")), pod: newPod(foreign), want: again},
	} {
		t.Run(name, func(t *testing.T) {
			if test.at == nil {
				test.at = newAt(running)
			}
			assert.Equal(t, test.want, words(Exists(Observed{At: test.at, Now: due.Add(2 * time.Second)}, test.pod)))
		})
	}
}

func TestANamespaceThatIsTerminatingIsNothingToReport(t *testing.T) {
	terminating := apierrors.NewForbidden(pods, "example-at-pod", nil)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	d, ok := Refused(Observed{At: newAt(running), Now: due}, terminating)
	assert.True(t, ok)
	assert.Zero(t, d)
}

func TestTheServerRefusesThePod(t *testing.T) {
	refused := func(message string) []string {
		message = "the server refuses to create the pod: " + message
		return []string{
			"become RUNNING in example-at-pod from 10:12:01",
			"Scheduled=False since 10:12:02, of 1: CreationRefused: " + message,
			"record Warning CreationRefused: " + message,
			"wake at 10:12:12",
		}
	}
	again := refused(errQuota.Error())
	again[1] = strings.Replace(again[1], "10:12:02, of 1", "10:12:01, of 2", 1)
	used2 := apierrors.NewForbidden(pods, "example-at-pod", errors.New("exceeded quota: one, requested: pods=1, used: pods=2, limited: pods=1"))
	for name, test := range map[string]struct {
		at   *cnat.At // RUNNING if nil
		err  error
		want []string // nothing: it is another error
	}{
		"because of a quota":            {err: fmt.Errorf("creating: %w", errQuota), want: refused(errQuota.Error())},
		"which is reported once":        {at: newAt(running, blockedByQuota), err: used2, want: []string{"wake at 10:12:12"}},
		"and once more of another spec": {at: newAt(running, blockedByQuota, edited), err: errQuota, want: again},
		"because of a policy":           {err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "example-at-pod", nil), want: refused(`Pod "example-at-pod" is invalid`)},
		"in many words":                 {err: apierrors.NewBadRequest(strings.Repeat("x", 2000)), want: refused(strings.Repeat("x", 1024-len("the server refuses to create the pod: ")))},
		"because it has too much to do": {err: apierrors.NewTooManyRequests("later", 1)},
		"because of a race for a quota": {err: fmt.Errorf("creating: %w", apierrors.NewConflict(corev1.Resource("resourcequotas"), "one", errors.New("the object has been modified")))},
		"because it is broken":          {err: apierrors.NewInternalError(errors.New("etcd is gone"))},
		"and there is no answer":        {err: errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			if test.at == nil {
				test.at = newAt(running)
			}
			d, ok := Refused(Observed{At: test.at, Now: due.Add(2 * time.Second)}, test.err)
			assert.Equal(t, test.want, words(d))
			assert.Equal(t, test.want != nil, ok)
		})
	}
}

func TestAQuotaThatFreesBeforeTheDeadline(t *testing.T) {
	o := Observed{At: newAt(deadlineSeconds(9), running), Now: due}
	reported := 0
	for full := true; full; full = o.Now.Before(due.Add(2 * time.Second)) {
		d, _ := Refused(o, errQuota)
		reported += writes(d)
		o = doDecided(o, d)
		o.Now = d.Wake
	}
	assert.Equal(t, create, words(Decide(o)), "the quota has room again, and it isn't too late")
	assert.Equal(t, 1, reported, "it is reported once, however often it is tried")
}

const (
	started = "Scheduled=True since 10:12:01, of 1: Started: the command was started"
	deleted = "the pod example-at-pod was deleted before the command had ended; it is not run again"
)

func TestThePodIsFollowed(t *testing.T) {
	complete := []string{
		"become DONE in example-at-pod from 10:12:01 to 10:12:05 with 0",
		started,
		"Complete=True since 10:12:06, of 1: Succeeded: the command has ended with exit code 0",
		"record Normal Succeeded: the command has ended with exit code 0",
	}
	atOnce := append([]string{strings.Replace(complete[0], "10:12:05", "10:12:01", 1)}, complete[1:]...)
	run(t, map[string]testCase{
		"a node whose clock is slow":                        {at: newAt(running), pod: newPod(exited(corev1.PodSucceeded, 0), nodeBehind), late: 6 * time.Second, want: atOnce},
		"while it runs, there is nothing to write":          {at: newAt(running), pod: newPod(in(corev1.PodRunning)), late: time.Hour},
		"while it waits for its image, there is not either": {at: newAt(running), pod: newPod(in(corev1.PodPending)), late: time.Hour},
		"a node that is silent is not the end":              {at: newAt(running), pod: newPod(in(corev1.PodUnknown)), late: time.Hour},
		"a clock that is set back does not run it again":    {at: newAt(running), pod: newPod(), late: -time.Hour},
		"what was in the way is not any more": {at: newAt(running, blockedByQuota), pod: newPod(), late: 2 * time.Second, want: []string{
			"become RUNNING in example-at-pod from 10:12:01",
			strings.Replace(started, ":01", ":02", 1),
		}},
		"when it has succeeded, it is DONE":        {at: newAt(running), pod: newPod(exited(corev1.PodSucceeded, 0)), late: 6 * time.Second, want: complete},
		"that it was deleted then does not matter": {at: newAt(running), pod: newPod(exited(corev1.PodSucceeded, 0), deletedPod), late: 6 * time.Second, want: complete},
		"a proxy that runs on does not matter":     {at: newAt(running), pod: newPod(besideProxy(0)), late: 6 * time.Second, want: complete},
		"nor does a proxy that fails":              {at: newAt(running), pod: newPod(exited(corev1.PodFailed, 0)), late: 6 * time.Second, want: complete},
		"the kubelet runs a failed command again":  {at: newAt(running), pod: newPod(besideProxy(1)), late: 6 * time.Second},
		"without a report from the node, it ends when that is seen": {at: newAt(running), pod: newPod(in(corev1.PodSucceeded)), late: 6*time.Second + 1, want: []string{
			"become DONE in example-at-pod from 10:12:01 to 10:12:06", complete[1], complete[2], complete[3],
		}},
	})
}

func nodeBehind(p *corev1.Pod) {
	p.Status.ContainerStatuses[1].State.Terminated.FinishedAt = metav1.NewTime(due.Add(-time.Hour))
}

func blockedByQuota(at *cnat.At) {
	d, _ := Refused(Observed{At: at, Now: due.Add(time.Second)}, errQuota)
	at.Status = *d.Status
}

func TestAPodThatFails(t *testing.T) {
	fails := func(exit, reason, message string) []string {
		return []string{
			"become DONE in example-at-pod from 10:12:01 to " + exit,
			started,
			"Failed=True since 10:12:06, of 1: " + reason + ": " + message,
			"record Warning " + reason + ": " + message,
		}
	}
	long := strings.Repeat("é", 600)
	cases := map[string]testCase{
		"has its exit code":                             {pod: newPod(exited(corev1.PodFailed, 3)), want: fails("10:12:05 with 3", "CommandFailed", "the command has ended with exit code 3")},
		"may have none":                                 {pod: newPod(in(corev1.PodFailed)), want: fails("10:12:06", "CommandFailed", "the pod has failed before the command had ended")},
		"may have a reason":                             {pod: newPod(in(corev1.PodFailed), failedBecause("Evicted", "low on memory")), want: fails("10:12:06", "Evicted", "low on memory")},
		"may have a reason while it goes":               {pod: newPod(in(corev1.PodFailed), deletedPod, failedBecause("Evicted", "low on memory")), want: fails("10:12:06", "Evicted", "low on memory")},
		"because it was deleted":                        {pod: newPod(exited(corev1.PodFailed, 143), deletedPod), want: fails("10:12:05 with 143", "PodDeleted", "the command has ended with exit code 143, because the pod was deleted")},
		"with a reason that no condition may have":      {pod: newPod(in(corev1.PodFailed), failedBecause("out of luck", "bad luck")), want: fails("10:12:06", "CommandFailed", "bad luck")},
		"with a reason that is longer than an event's":  {pod: newPod(in(corev1.PodFailed), failedBecause(strings.Repeat("R", 129), "bad luck")), want: fails("10:12:06", "CommandFailed", "bad luck")},
		"with a message that is longer than an event's": {pod: newPod(in(corev1.PodFailed), failedBecause("Long", "x"+long)), want: fails("10:12:06", "Long", ("x" + long)[:1023])},
	}
	for name, s := range cases {
		s.at, s.late = newAt(running), 6*time.Second
		cases[name] = s
	}
	run(t, cases)
}

func TestAPodThatIsDeleted(t *testing.T) {
	on := func(node string, grace int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.NodeName, p.DeletionGracePeriodSeconds = node, &grace }
	}
	gone := []string{
		"become DONE in example-at-pod from 10:12:01 to 10:12:06",
		started,
		"Failed=True since 10:12:06, of 1: PodDeleted: " + deleted,
		"record Warning PodDeleted: " + deleted,
	}
	const late = 6 * time.Second
	run(t, map[string]testCase{
		"before it was scheduled is gone":                 {at: newAt(running), pod: newPod(deletedPod, on("", 0)), late: late, want: gone},
		"with force is gone: nobody waits for its node":   {at: newAt(running), pod: newPod(in(corev1.PodRunning), deletedPod, on("node", 0)), late: late, want: gone},
		"on a node is followed until the kubelet reports": {at: newAt(running), pod: newPod(in(corev1.PodRunning), deletedPod, on("node", 30)), late: late},
	})
}
