package lifecycle

import (
	"fmt"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// pause is how long a foreign pod is left in the way before the operator looks
// whether it is still there. It watches only pods that bear its label.
const pause = 10 * time.Second

// wait is for an At whose pod was never created.
func wait(o Observed) Decision {
	schedule, err := Schedule(o.At)
	if err != nil {
		// To try again would be of no use: only another schedule helps, and the
		// watch will tell of that.
		return blocked(o, "InvalidSchedule", err.Error())
	}
	tooLate := tooLateFrom(o.At, schedule)

	switch {
	case o.Now.Before(schedule):
		status := o.status(func(s *cnat.AtStatus) {
			s.Phase = cnat.Pending
			o.set(s, cnat.Scheduled, metav1.ConditionTrue, "Waiting", "the command will be run at "+schedule.UTC().Format(time.RFC3339Nano))
		})
		return Decision{Status: status, Wake: schedule}

	case !tooLate.IsZero() && !o.Now.Before(tooLate):
		return missed(o, schedule)

	case o.Pod == nil:
		return Decision{CreatePod: true}

	// The pod of an At of the same name that was deleted a moment ago. Give the
	// garbage collector its time.
	case o.Pod.DeletionTimestamp != nil || isOfNamesake(o.Pod, o.At):
		return Decision{Wake: o.lookAgain(tooLate)}

	default:
		d := blocked(o, "PodNameTaken", fmt.Sprintf("the pod %s exists, and was not made for this At; delete that pod, or create this At under another name", o.Pod.Name))
		d.Wake = o.lookAgain(tooLate)
		return d
	}
}

// Schedule is when the command is to be run. The schema admits only times, but
// an object may be older than its schema. Go reads all that the schema admits, and
// a little more, such as 2019-04-12T7:00:00Z.
func Schedule(at *cnat.At) (time.Time, error) {
	// RFC 3339 allows t and z, and Go does not.
	schedule, err := time.Parse(time.RFC3339, strings.ToUpper(at.Spec.Schedule))
	if err != nil {
		return time.Time{}, fmt.Errorf("the schedule %.64q is not a time such as 2019-04-12T10:12:00Z; correct spec.schedule", at.Spec.Schedule)
	}
	return schedule, nil
}

// longest is how many seconds a time.Duration can hold: 292 years.
const longest = math.MaxInt64 / int64(time.Second)

// tooLateFrom is when the command may not be started any more. The zero time means
// that there is no such limit. How late it is counts in whole seconds, so that a
// deadline of 0 leaves it the second of its schedule.
func tooLateFrom(at *cnat.At, schedule time.Time) time.Time {
	if at.Spec.StartingDeadlineSeconds == nil {
		return time.Time{}
	}
	late := min(*at.Spec.StartingDeadlineSeconds, longest)
	return schedule.Add(time.Duration(late) * time.Second).Add(time.Second)
}

// blocked is for an At that cannot be run as things are. It stays PENDING.
func blocked(o Observed, reason, message string) Decision {
	return o.told(corev1.EventTypeWarning, reason, message, func(s *cnat.AtStatus) {
		s.Phase = cnat.Pending
		o.set(s, cnat.Scheduled, metav1.ConditionFalse, reason, message)
	})
}

// missed is for an At that will never be run.
func missed(o Observed, schedule time.Time) Decision {
	const reason = "StartingDeadlineExceeded"
	message := fmt.Sprintf("the command should have been started at %s, or within %d seconds; it will not be run",
		schedule.UTC().Format(time.RFC3339Nano), *o.At.Spec.StartingDeadlineSeconds)
	return o.told(corev1.EventTypeWarning, reason, message, func(s *cnat.AtStatus) {
		s.Phase = cnat.Done
		o.set(s, cnat.Scheduled, metav1.ConditionFalse, reason, message)
		o.set(s, cnat.Failed, metav1.ConditionTrue, reason, message)
	})
}

// lookAgain is when to look whether the pod is still in the way: soon, and as soon
// as it is too late.
func (o Observed) lookAgain(tooLate time.Time) time.Time {
	soon := o.Now.Add(pause)
	if !tooLate.IsZero() && tooLate.Before(soon) {
		return tooLate
	}
	return soon
}
