package cluster

import corev1 "k8s.io/api/core/v1"

// shutdownGrace is the longest grace period, in seconds, while the lab stops: what the
// configuration of a kubelet calls shutdownGracePeriod.
const shutdownGrace = 30

// ShutdownGrace returns the grace period that a pod has, in seconds, when its node shuts
// down.
func ShutdownGrace(pod *corev1.Pod) *int64 {
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	for _, asked := range []*int64{pod.Spec.TerminationGracePeriodSeconds, pod.DeletionGracePeriodSeconds} {
		if asked != nil {
			seconds = *asked
		}
	}
	seconds = min(seconds, shutdownGrace)
	return &seconds
}
