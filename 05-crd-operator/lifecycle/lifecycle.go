// Package lifecycle is all that the operator knows about Ats. It decides, and
// does nothing: no client, no cache, no clock of its own. Both forms of the
// operator, clientgo and controllerruntime, ask it the same question:
//
//	this is the At, this is its pod, it is now this late: what is to be done?
//
//	lifecycle.go   the question and the answer
//	wait.go        before the pod exists
//	follow.go      after the pod was created
//	pod.go         the pod that is wanted, and how to know it again
//	status.go      how a status is put together
//
// At most one thing is done at a time: to create the pod, or to write the
// status. The next decision sees what came of it. So the operator can be killed
// between any two of them.
package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// Observed is everything that a decision depends on.
type Observed struct {
	At *cnat.At
	// Pod is the pod that has the name of the At's pod, whoever made it. nil
	// means that there is none.
	Pod *corev1.Pod
	// Started is whether this operator remembers to have created the pod. The
	// cache of pods and that of Ats are both a moment behind, and not equally.
	Started bool
	Now     time.Time
}

// Decision is what is to be done. The zero value is nothing.
type Decision struct {
	// CreatePod asks for the pod of DesiredPod. That it exists already is not an
	// error, but something to look at: observe it and decide again.
	CreatePod bool
	// Status is to be written, unless it is nil.
	Status *cnat.AtStatus
	// Event is to be told once the status is written, unless it is nil.
	Event *Event
	// Wake is when to look again although nothing has changed. The zero time
	// is never.
	Wake time.Time
}

// Event is something that happened once, for kubectl describe.
type Event struct {
	Type   string // corev1.EventTypeNormal or Warning
	Reason string
	Note   string
}

// Decide says what is to be done about an At.
func Decide(o Observed) Decision {
	switch {
	case o.over():
		return Decision{}
	case o.started():
		return follow(o)
	default:
		return wait(o)
	}
}

// LostPod reports whether the pod was created and is not there. A cache that is
// a moment behind looks the same, so ask the server for the pod, and only then
// decide.
func LostPod(o Observed) bool {
	return !o.over() && o.started() && !IsPodOf(o.Pod, o.At)
}

// over reports whether there is nothing left to do, whatever happens.
func (o Observed) over() bool {
	return o.At.DeletionTimestamp != nil || o.At.Status.Phase == cnat.Done
}

// started reports whether the pod of this At was ever created.
func (o Observed) started() bool {
	return o.Started || o.At.Status.Phase == cnat.Running || IsPodOf(o.Pod, o.At)
}
