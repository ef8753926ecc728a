package operator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// observeOutdated finds out which pods are not what would be made now.
func (r *Reconciler) observeOutdated(o *observation, pods []corev1.Pod) {
	there := map[types.UID]*corev1.Pod{}
	for i := range pods {
		there[pods[i].UID] = &pods[i]
	}
	for _, m := range o.Members {
		if m.Pod != nil {
			m.Pod.Outdated = outdated(there[m.Pod.UID], r.newPod(o.forPods(), m.Name))
		}
	}
}

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
