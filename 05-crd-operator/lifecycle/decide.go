// Package lifecycle is all that the operator knows about Ats. It decides, and
// does nothing: no client, no cache, no clock of its own. Both forms of the
// operator, clientgo and controllerruntime, call it the same way:
//
//	decide.go   what is observed, and what is decided
//	when.go     when the command is due, too late, or tried again
//	pod.go      the pod, and how it says that it has ended
//
// An At goes through five writes, and each reconcile makes one of them. So the
// operator can be killed between any two of them.
//
//	PENDING     the time has not come
//	RUNNING     with a resource version: an At that was changed meanwhile is refused,
//	            and from now on the CRD's rule refuses to change its schedule
//	the pod     after a live read, because a RUNNING At in a cache may be gone by now
//	DONE        how the command ended
//	finalizer   removed from the pod: it may go now
//
// The operator remembers nothing. Until DONE is written the pod cannot vanish,
// because it has a finalizer; so a RUNNING At without a pod is one whose pod has
// never been created. The Job controller of Kubernetes works in the same way.
package lifecycle

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// Observed is everything that a decision depends on.
type Observed struct {
	// At is nil if there is none.
	At *cnat.At
	// Pod is the pod that has the name of the At's pod, and may be of another
	// creator. It is nil if there is none.
	Pod *corev1.Pod
	Now time.Time
}

// Decision is what to do. The zero value is nothing. It is one thing at most: to
// write the status, to create the pod, or to remove its finalizer.
type Decision struct {
	// Status is to be written, unless it is nil.
	Status *cnat.AtStatus
	// CreatePod is whether to create the pod of DesiredPod.
	CreatePod bool
	// RemoveFinalizer is whether to patch the pod with FinalizerPatch.
	RemoveFinalizer bool
	// Event is to be recorded once that has been done, unless it is nil.
	Event *Event
	// Wake is when to reconcile again although nothing has changed. The zero time
	// is never.
	Wake time.Time
}

// Event is something that happened once, for kubectl describe.
type Event struct {
	Type   string // corev1.EventTypeNormal or Warning
	Reason string
	Note   string
}

// NeedsLiveAt reports whether to read the At from the server, and not from a cache,
// before Decide is called. A cache may be stale. Mostly that does no harm: the
// server refuses a status that is based on an old resource version. Two things it
// would not refuse, and they cannot be undone: to create the pod of an At that is
// gone or over, and to let go the pod of an At that the cache does not show yet.
func NeedsLiveAt(o Observed) bool {
	return o.starting() || hasFinalizer(o.Pod) && !IsPodOf(o.Pod, o.At)
}

// MayHaveLostPod reports whether to read the pod before anything else. The At is gone or
// going. No cache shows a pod that has lost its label, which may still have our finalizer.
func MayHaveLostPod(o Observed) bool {
	return o.Pod == nil && (o.At == nil || o.At.DeletionTimestamp != nil)
}

// NeedsLivePod reports whether to read the pod, too. When it is too late to create
// it, no server says that it exists already.
func NeedsLivePod(o Observed) bool {
	return o.starting() && o.missedDeadline()
}

// Decide says what to do about an At.
func Decide(o Observed) Decision {
	switch {
	case hasFinalizer(o.Pod) && (o.over() || !IsPodOf(o.Pod, o.At)):
		return Decision{RemoveFinalizer: true}
	case o.over():
		return Decision{}
	case o.starting():
		return start(o)
	case o.At.Status.Phase == cnat.Running:
		return follow(o)
	default:
		return wait(o)
	}
}

// over reports whether there is nothing left to do for the At, whatever happens.
func (o Observed) over() bool {
	return o.At == nil || o.At.DeletionTimestamp != nil || o.At.Status.Phase == cnat.Done
}

// starting reports whether the pod is to be created.
func (o Observed) starting() bool {
	return !o.over() && o.At.Status.Phase == cnat.Running && !IsPodOf(o.Pod, o.At)
}

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
// reports false for all other errors. A conflict is one of them: the pod is new, so
// it's about the quota, which the server has just changed for another pod.
func Refused(o Observed, err error) (Decision, bool) {
	const reason = "CreationRefused"
	// The namespace is going, and the At with it.
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return Decision{}, true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code/100 != 4 || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err) {
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

// follow is for an At whose pod exists. Whatever becomes of the pod, there will be
// no second one.
func follow(o Observed) Decision {
	switch {
	case hasSucceeded(o.Pod):
		return o.complete()
	case o.Pod.Status.Phase == corev1.PodFailed:
		return o.failed(failure(o.Pod))
	case isAbandoned(o.Pod):
		return o.failed(podDeleted, "the pod "+o.Pod.Name+" was deleted before the command had ended; it is not run again")
	default:
		// What was in the way of the pod is not any more.
		return Decision{Status: o.status(o.setStarted)}
	}
}

func (o Observed) complete() Decision {
	const reason, message = "Succeeded", "the command has ended with exit code 0"
	return o.recorded(corev1.EventTypeNormal, reason, message, func(s *cnat.AtStatus) {
		o.setEnded(s)
		o.set(s, cnat.Complete, metav1.ConditionTrue, reason, message)
	})
}

func (o Observed) failed(reason, message string) Decision {
	return o.recorded(corev1.EventTypeWarning, reason, message, func(s *cnat.AtStatus) {
		o.setEnded(s)
		o.set(s, cnat.Failed, metav1.ConditionTrue, reason, message)
	})
}

// blocked is for an At that cannot be run as things are. What is in the way is
// reported once.
func blocked(o Observed, reason, message string) Decision {
	return o.recorded(corev1.EventTypeWarning, reason, message, func(s *cnat.AtStatus) {
		if s.Phase != cnat.Running {
			s.Phase = cnat.Pending
		}
		o.set(s, cnat.Scheduled, metav1.ConditionFalse, reason, message)
	})
}

// status changes a copy of the present status. It returns nil when that comes to
// the same: what is so already is not written.
func (o Observed) status(change func(*cnat.AtStatus)) *cnat.AtStatus {
	status := o.At.Status.DeepCopy()
	change(status)
	if equality.Semantic.DeepEqual(status, &o.At.Status) {
		return nil
	}
	return status
}

// recorded is a change of the status with an event about it. Where there is
// nothing to write, there is nothing to record.
func (o Observed) recorded(eventType, reason, note string, change func(*cnat.AtStatus)) Decision {
	status := o.status(change)
	if status == nil {
		return Decision{}
	}
	return Decision{Status: status, Event: &Event{Type: eventType, Reason: reason, Note: note}}
}

// set sets a condition. The time of its last transition stays while its status
// stays, so that a condition that is set twice is set once.
func (o Observed) set(s *cnat.AtStatus, condition string, value metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: condition, Status: value, Reason: reason, Message: message,
		ObservedGeneration: o.At.Generation,
		LastTransitionTime: *o.second(),
	})
}

// setStarted notes that nothing is in the way of the pod.
func (o Observed) setStarted(s *cnat.AtStatus) {
	o.set(s, cnat.Scheduled, metav1.ConditionTrue, "Started", "the command was started")
}

// setEnded notes how the command ended.
func (o Observed) setEnded(s *cnat.AtStatus) {
	o.setStarted(s)
	s.Phase = cnat.Done
	s.CompletionTime = o.second()
	if t := terminated(o.Pod); t != nil {
		s.ExitCode = &t.ExitCode
		if !t.FinishedAt.IsZero() {
			s.CompletionTime = &t.FinishedAt
		}
	}
	// The start is by the clock of an operator, the end by that of a node. Whichever of them is
	// wrong, no command ends before it starts.
	if s.CompletionTime.Before(s.StartTime) {
		s.CompletionTime = s.StartTime
	}
}
