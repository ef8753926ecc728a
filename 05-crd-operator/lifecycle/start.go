package lifecycle

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// retryAfter is how long the operator waits before it tries again to create a pod
// that the server has refused. No watch reports that it would not refuse it now.
const retryAfter = 10 * time.Second

// start is for an At that is RUNNING and has no pod. It was read live.
func start(o Observed) Decision {
	switch {
	case o.missedDeadline():
		return missed(o)
	case o.Pod != nil:
		return Exists(o, o.Pod)
	default:
		return Decision{CreatePod: true, Event: &Event{
			Type: corev1.EventTypeNormal, Reason: "Started", Note: "the pod " + PodName(o.At.Name) + " runs the command",
		}}
	}
}

// Exists decides what to do if the pod could not be created because there is a pod
// of that name. The pod was read live. It is nil if it is gone again.
func Exists(o Observed, pod *corev1.Pod) Decision {
	switch {
	// Ours, and the cache does not show it yet. Its event brings the At back.
	case IsPodOf(pod, o.At) && pod.Labels[ManagedBy] == Operator:
		return Decision{}
	// Ours, and the caches will never show it: they have only pods with the label.
	case IsPodOf(pod, o.At):
		d := blocked(o, "PodLabelRemoved", fmt.Sprintf("the pod %s has lost its label, and cannot be followed; put it back: kubectl label --overwrite pod %[1]s %s", pod.Name, PodSelector))
		d.Wake = o.retry()
		return d
	// The pod of an At of the same name that was deleted a moment ago. Give the
	// garbage collector its time.
	case pod == nil || pod.DeletionTimestamp != nil || isOfNamesake(pod, o.At):
		return Decision{Wake: o.retry()}
	default:
		d := blocked(o, "PodNameTaken", fmt.Sprintf("the pod %s exists, and this At is not its owner: somebody else made the pod, or took away its owner reference; see which of them, before you delete the pod, or create this At under another name", pod.Name))
		d.Wake = o.retry()
		return d
	}
}

// Refused decides what to do if the server did not want to create the pod: a quota
// is used up, an admission policy forbids it, the operator lacks the right. It
// reports false for all other errors.
func Refused(o Observed, err error) (Decision, bool) {
	const reason = "CreationRefused"
	// The namespace is going, and the At with it.
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return Decision{}, true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code/100 != 4 || status.Status().Code == http.StatusTooManyRequests {
		return Decision{}, false
	}
	d := Decision{}
	// The words of a quota change with its use. They are reported once for each spec.
	if c := meta.FindStatusCondition(o.At.Status.Conditions, cnat.Scheduled); c == nil || c.Status != metav1.ConditionFalse || c.Reason != reason || c.ObservedGeneration != o.At.Generation {
		d = blocked(o, reason, shorten("the server refuses to create the pod: "+status.Status().Message))
	}
	d.Wake = o.retry()
	return d, true
}

// retry is when to try again: soon, and as soon as it is too late.
func (o Observed) retry() time.Time {
	soon := o.Now.Add(retryAfter)
	if deadline := deadline(o.At); !deadline.IsZero() && deadline.Before(soon) {
		return deadline
	}
	return soon
}
