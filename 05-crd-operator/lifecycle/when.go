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

// wait is for an At that is PENDING.
func wait(o Observed) Decision {
	schedule, err := Schedule(o.At)
	switch {
	case err != nil:
		// To try again would be of no use: only another schedule helps, and the
		// watch reports that.
		return blocked(o, "InvalidSchedule", err.Error())
	case o.Now.Before(schedule):
		status := o.status(func(s *cnat.AtStatus) {
			s.Phase = cnat.Pending
			o.set(s, cnat.Scheduled, metav1.ConditionTrue, "Waiting", "the command will be run at "+schedule.UTC().Format(time.RFC3339Nano))
		})
		return Decision{Status: status, Wake: schedule}
	case o.missedDeadline():
		return missed(o)
	default:
		return Decision{Status: o.status(func(s *cnat.AtStatus) {
			s.Phase = cnat.Running
			s.PodName = PodName(o.At.Name)
			s.StartTime = o.second()
			o.setStarted(s)
		})}
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

// deadline is when the command may not be started any more. The zero time means
// that there is no such limit. How late it is counts in whole seconds, so that a
// deadline of 0 leaves it the second of its schedule.
func deadline(at *cnat.At) time.Time {
	schedule, err := Schedule(at)
	if err != nil || at.Spec.StartingDeadlineSeconds == nil {
		return time.Time{}
	}
	late := min(*at.Spec.StartingDeadlineSeconds, longest)
	return schedule.Add(time.Duration(late) * time.Second).Add(time.Second)
}

func (o Observed) missedDeadline() bool {
	deadline := deadline(o.At)
	return !deadline.IsZero() && !o.Now.Before(deadline)
}

// missed is for an At that will never be run.
func missed(o Observed) Decision {
	const reason = "StartingDeadlineExceeded"
	schedule, _ := Schedule(o.At) // that has a deadline, so it is one
	message := fmt.Sprintf("the command should have been started at %s, or within %d seconds; it will not be run",
		schedule.UTC().Format(time.RFC3339Nano), *o.At.Spec.StartingDeadlineSeconds)
	return o.recorded(corev1.EventTypeWarning, reason, message, func(s *cnat.AtStatus) {
		s.Phase, s.PodName, s.StartTime = cnat.Done, "", nil
		o.set(s, cnat.Scheduled, metav1.ConditionFalse, reason, message)
		o.set(s, cnat.Failed, metav1.ConditionTrue, reason, message)
	})
}

// retryAfter is how long the operator waits before it tries again to create a pod
// that the server has refused. No watch reports that it would not refuse it now.
const retryAfter = 10 * time.Second

// retry is when to try again: soon, every second near the deadline, and as soon as it is too late.
func (o Observed) retry() time.Time {
	soon := o.Now.Add(retryAfter)
	if deadline := deadline(o.At); !deadline.IsZero() && !deadline.After(soon) {
		return o.Now.Add(min(time.Second, deadline.Sub(o.Now)))
	}
	return soon
}

// second is the time in whole seconds, as the API has it.
func (o Observed) second() *metav1.Time { return &metav1.Time{Time: o.Now.Truncate(time.Second)} }
