package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

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

// second is the time in whole seconds, as the API has it.
func (o Observed) second() *metav1.Time { return &metav1.Time{Time: o.Now.Truncate(time.Second)} }
