package operator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// mostUpdates is how often a member gets the same from this operator. To update a primary takes two
// steps, a switchover and another pod. If that does not last, somebody else makes pods, too: an
// operator with another image, or a webhook. Two that never gave in would replace pods forever.
const mostUpdates = 3

// updates is what the operator has done to give a member what is wanted now.
type updates struct {
	wanted corev1.Container
	count  int
	warned bool
}

// observeOutdated finds out which pods are not what would be made now, and leaves those as they are
// that somebody else keeps replacing. What was done for something else does not count.
func (r *Reconciler) observeOutdated(o *observation, tracker *tracker) {
	for _, m := range o.Members {
		if m.Pod == nil {
			continue
		}
		has, wanted := oursIn(o.pods[m.Pod.UID]), oursIn(r.newPod(o.forPods(), m.Name))
		u := tracker.updates[m.Name]
		if u == nil || outdated(u.wanted, wanted) {
			u = &updates{wanted: wanted}
			tracker.updates[m.Name] = u
		}
		m.Pod.Outdated = outdated(has, wanted) && u.count < mostUpdates
		if o.losesBackups() && !outdated(has, oursIn(r.newPod(o.Cluster, m.Name))) {
			m.Pod.Outdated = false // it still archives there
		}
		if u.count >= mostUpdates && !u.warned && outdated(has, wanted) {
			u.warned = true
			r.record(*o, plan.Decision{Action: "Update", Reason: "Contested", Warning: true, Note: fmt.Sprintf(
				"%s has the image %s, and this operator has replaced it for %s before: another operator or a webhook makes pods, too. "+
					"It stays as it is until this operator starts again; stop the other one, or give both the same --image and the same arguments",
				m.Name, has.Image, wanted.Image)})
		}
	}
}

// outdated reports whether a pod has to be replaced by the one that would be made now. The API
// server and others add to a pod, so only the image and the arguments count. Backups, which
// need a disk, are among the arguments.
func outdated(has, wanted corev1.Container) bool {
	return has.Image != wanted.Image || !slices.Equal(lasting(has.Args), lasting(wanted.Args))
}

// lasting are the arguments without that of a restore, which is over by now.
func lasting(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == sourceFlag })
}
