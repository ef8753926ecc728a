package operator

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// mostUpdates is how often a member gets the same from this operator. To update a primary takes two
// steps, a switchover and another pod. If that does not last, somebody else makes pods, too: an
// operator with another image, or a webhook. Two that never gave in would replace pods forever.
const mostUpdates = 3

// updates is what the operator has done to give a member what is wanted now.
type updates struct {
	wanted string
	count  int
	warned bool
}

// observeOutdated finds out which pods are not what would be made now.
func (r *Reconciler) observeOutdated(o *observation, pods []corev1.Pod, tracker *clusterTracker) {
	there := map[types.UID]*corev1.Pod{}
	for i := range pods {
		there[pods[i].UID] = &pods[i]
	}
	for _, m := range o.Members {
		if m.Pod == nil {
			continue
		}
		pod, want := there[m.Pod.UID], r.newPod(o.forPods(), m.Name)
		m.Pod.Outdated = outdated(pod, want)
		if u := tracker.updatesOf(m.Name, want); m.Pod.Outdated && u.count >= mostUpdates {
			m.Pod.Outdated = false
			r.warnContested(*o, pod, want, u)
		}
	}
}

// warnContested records, once, that this operator gives in.
func (r *Reconciler) warnContested(o observation, pod, want *corev1.Pod, u *updates) {
	if u.warned {
		return
	}
	u.warned = true
	note := fmt.Sprintf("%s has the image %s, and this operator has replaced it for %s before: another operator or a webhook makes pods, too. "+
		"It stays as it is until this operator starts again; stop the other one, or give both the same --image and the same arguments", pod.Name, imageOf(pod), imageOf(want))
	r.record(o, plan.Decision{Action: "Update", Reason: "Contested", Note: note, Warning: true})
}

// updatesOf returns what was done for what is wanted now. What was done for something else does not
// count.
func (t *clusterTracker) updatesOf(member string, want *corev1.Pod) *updates {
	wanted := imageOf(want) + " " + strings.Join(lasting(want.Spec.Containers[0].Args), " ")
	if t.updates == nil {
		t.updates = map[string]*updates{}
	}
	if u := t.updates[member]; u == nil || u.wanted != wanted {
		t.updates[member] = &updates{wanted: wanted}
	}
	return t.updates[member]
}

func imageOf(pod *corev1.Pod) string { return pod.Spec.Containers[0].Image }

// outdated reports whether a pod has to be replaced by the one that would be made now. The API
// server and others add to a pod, so only the image and the arguments count. Backups, which
// need a disk, are among the arguments.
func outdated(pod, want *corev1.Pod) bool {
	has, wanted := pod.Spec.Containers[0], want.Spec.Containers[0]
	return has.Image != wanted.Image || !slices.Equal(lasting(has.Args), lasting(wanted.Args))
}

// lasting are the arguments without that of a restore, which is over by now.
func lasting(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == sourceFlag })
}
