package lifecycle

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

const podDeleted = "PodDeleted"

// follow is for an At whose pod exists. Whatever becomes of the pod, there will be
// no second one.
func follow(o Observed) Decision {
	switch {
	case o.Pod.Status.Phase == corev1.PodSucceeded:
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

// isAbandoned reports whether the pod was deleted and no kubelet will say how it
// ended: it had not been scheduled to a node, or it was deleted with --force. Of
// other pods that are deleted, the kubelet reports the end.
//
// It is what isPodFailed is in the Job controller. That one waits for no kubelet,
// unless the podReplacementPolicy of the Job is Failed.
func isAbandoned(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && (pod.Spec.NodeName == "" || pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0)
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

// terminated is how the command ended; nil if nobody knows.
func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == container {
			return status.State.Terminated
		}
	}
	return nil
}

// reasonForm is what conditions and events demand of a reason. That of a pod may
// be anything.
var reasonForm = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]{0,126}[A-Za-z0-9_])?$`)

// failure says why the pod has failed. A command that fails is run again in its
// pod, so most often somebody has deleted the pod, or the node was short of
// something.
func failure(pod *corev1.Pod) (reason, message string) {
	switch {
	case reasonForm.MatchString(pod.Status.Reason):
		reason = pod.Status.Reason
	case pod.DeletionTimestamp != nil:
		reason = podDeleted
	default:
		reason = "CommandFailed"
	}
	return reason, shorten(cmp.Or(pod.Status.Message, ending(pod)))
}

// ending says in words how the command failed.
func ending(pod *corev1.Pod) string {
	words := "the pod has failed before the command had ended"
	if t := terminated(pod); t != nil {
		words = fmt.Sprintf("the command has ended with exit code %d", t.ExitCode)
	}
	if pod.DeletionTimestamp != nil {
		words += ", because the pod was deleted"
	}
	return words
}

// shorten cuts a message to the 1024 bytes that an event may have.
func shorten(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), 1024)], "")
}
