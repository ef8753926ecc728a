package lifecycle

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// follow is for an At whose pod was created. It has been started, once and for
// all: whatever becomes of the pod, there will be no second one.
func follow(o Observed) Decision {
	switch {
	// Gone, or replaced by somebody else's.
	case !IsPodOf(o.Pod, o.At):
		return o.failed("PodDeleted", fmt.Sprintf("the pod %s was deleted before the command had ended; it is not run again", PodName(o.At)))
	case o.Pod.Status.Phase == corev1.PodSucceeded:
		return o.complete()
	case o.Pod.Status.Phase == corev1.PodFailed:
		reason := cmp.Or(o.Pod.Status.Reason, "CommandFailed")
		return o.failed(reason, cmp.Or(o.Pod.Status.Message, ending(o.Pod)))
	default:
		return o.running()
	}
}

func (o Observed) running() Decision {
	message := "the pod " + o.Pod.Name + " runs the command"
	return o.told(corev1.EventTypeNormal, "Started", message, func(s *cnat.AtStatus) {
		o.setStarted(s)
		s.Phase = cnat.Running
	})
}

func (o Observed) complete() Decision {
	const reason, message = "Succeeded", "the command has ended with exit code 0"
	return o.told(corev1.EventTypeNormal, reason, message, func(s *cnat.AtStatus) {
		o.setStarted(s)
		o.setEnded(s)
		o.set(s, cnat.Complete, metav1.ConditionTrue, reason, message)
	})
}

func (o Observed) failed(reason, message string) Decision {
	return o.told(corev1.EventTypeWarning, reason, message, func(s *cnat.AtStatus) {
		o.setStarted(s)
		o.setEnded(s)
		o.set(s, cnat.Failed, metav1.ConditionTrue, reason, message)
	})
}

// setStarted notes that the pod was created. If it is gone, the time is the
// one that was noted before, if any.
func (o Observed) setStarted(s *cnat.AtStatus) {
	s.PodName = PodName(o.At)
	if IsPodOf(o.Pod, o.At) {
		s.StartTime = &o.Pod.CreationTimestamp
	}
	o.set(s, cnat.Scheduled, metav1.ConditionTrue, "Started", "the command was started")
}

// setEnded notes how the command ended.
func (o Observed) setEnded(s *cnat.AtStatus) {
	s.Phase = cnat.Done
	end := metav1.NewTime(o.Now.Truncate(1e9)) // the API has whole seconds
	if t := terminated(o.Pod); t != nil && IsPodOf(o.Pod, o.At) {
		s.ExitCode = &t.ExitCode
		if !t.FinishedAt.IsZero() {
			end = t.FinishedAt
		}
	}
	s.CompletionTime = &end
}

// terminated is how the only container ended; nil if nobody knows.
func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	if pod == nil || len(pod.Status.ContainerStatuses) == 0 {
		return nil
	}
	return pod.Status.ContainerStatuses[0].State.Terminated
}

// ending says in words how the command failed.
func ending(pod *corev1.Pod) string {
	if t := terminated(pod); t != nil {
		return fmt.Sprintf("the command has ended with exit code %d", t.ExitCode)
	}
	return "the pod has failed before the command had ended"
}
