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
		"it is foreign, and the deadline comes before":   {at: newAt(deadlineSeconds(3), running, reported), pod: newPod(foreign), want: []string{"wake at 10:12:04"}},
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
