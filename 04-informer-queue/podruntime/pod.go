package podruntime

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pod is what the cache keeps of a corev1.Pod: its life, and what the informer
// itself needs, which is a key and a version. It is there to save memory alone: the
// second table of `make bench-4` has the size of a pod in each form.
type pod struct {
	namespace, name string
	uid             types.UID
	version         string
	life
}

// GetObjectMeta is where the informer gets key and version from. The result is
// garbage soon after: an ObjectMeta in every pod would more than double their size.
func (p *pod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, UID: p.uid, ResourceVersion: p.version}
}

// since returns when the life of a pod begins and ends.
type since func(*corev1.Pod) life

// trim makes an informer keep a pod instead of a corev1.Pod. It is called
// before the cache, before all handlers, and during a streamed list twice.
func trim(since since) func(any) (any, error) {
	return func(object any) (any, error) {
		whole, ok := object.(*corev1.Pod)
		if !ok {
			return object, nil // it has been trimmed before
		}
		return &pod{
			namespace: whole.Namespace,
			name:      whole.Name,
			uid:       whole.UID,
			version:   whole.ResourceVersion,
			life:      since(whole),
		}, nil
	}
}

// sinceCreation is the form of first/: every pod counts from its creation until it is
// deleted, whether it runs or not.
func sinceCreation(p *corev1.Pod) life {
	return life{start: seconds(p.CreationTimestamp)}
}

// sinceStart counts a pod from the moment when its node took it on until its
// last container finished. A pod whose containers have all finished may start them
// again; it has ended when its phase is Succeeded or Failed.
func sinceStart(p *corev1.Pod) life {
	if p.Status.StartTime == nil {
		return life{}
	}
	l := life{start: seconds(*p.Status.StartTime)}
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		l.end = max(l.start, ended(p))
	}
	return l
}

// ended is when the last container finished. A pod that was evicted, or whose
// node is lost, may have none that did; then it ended when it last got another
// condition.
func ended(p *corev1.Pod) int64 {
	var last int64
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if c.State.Terminated != nil {
			last = max(last, seconds(c.State.Terminated.FinishedAt))
		}
	}
	if last > 0 {
		return last
	}
	for _, c := range p.Status.Conditions {
		last = max(last, seconds(c.LastTransitionTime))
	}
	return last
}

// seconds is 0 for a time that was never set, or is before 1970; Unix would go back to the year 1.
func seconds(t metav1.Time) int64 { return max(0, t.Unix()) }
