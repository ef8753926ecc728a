// Package lifecycle is all that the operator knows about Ats. It decides, and
// does nothing: no client, no cache, no clock of its own. Both forms of the
// operator, clientgo and controllerruntime, call it the same way:
//
//	lifecycle.go   what is observed, and what is decided
//	wait.go        PENDING: before the time has come
//	start.go       RUNNING: the pod is to be created
//	follow.go      RUNNING: the pod exists
//	pod.go         the pod, its name and its finalizer
//	status.go      how a status is put together
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
	"time"

	corev1 "k8s.io/api/core/v1"

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
