package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// addUnlabelled adds the pods and disks of members that have lost their label, which a list does
// not show: they are looked for by name. A primary without its label is still the primary. As long
// as the list has all that is expected, this asks for nothing.
func (r *Reconciler) addUnlabelled(ctx context.Context, o *observation, pods *corev1.PodList, disks *corev1.PersistentVolumeClaimList) error {
	hasPod, hasDisk := map[string]bool{}, map[string]bool{}
	for _, pod := range pods.Items {
		hasPod[pod.Name] = metav1.IsControlledBy(&pod, o.Cluster)
	}
	for _, disk := range disks.Items {
		hasDisk[disk.Name] = metav1.IsControlledBy(&disk, o.Cluster)
	}
	for _, name := range expected(o.Cluster, hasPod, hasDisk) {
		pod, disk := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
		if ours, err := r.findByName(ctx, o, pod, name, hasPod[name]); err != nil {
			return err
		} else if ours {
			pods.Items = append(pods.Items, *pod)
		}
		if ours, err := r.findByName(ctx, o, disk, name, hasDisk[name]); err != nil {
			return err
		} else if ours {
			disks.Items = append(disks.Items, *disk)
		}
	}
	return nil
}

// expected are the members that may be there: those that were a moment ago, those of which the list
// has one half, and, if that is too few, those that would be made next. If there seem to be none at
// all, it is any number.
func expected(cluster *postgres.PostgresCluster, hasPod, hasDisk map[string]bool) (names []string) {
	for _, has := range []map[string]bool{hasPod, hasDisk} {
		for name, ours := range has {
			if ours {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	numbers := int(cluster.Spec.Size)
	switch listed := len(names); {
	case listed == 0 && cluster.Status.Phase == postgres.Unsafe:
		numbers = maxSize
	case listed >= numbers:
		numbers = 0
	}
	for number := range numbers {
		names = append(names, plan.MemberName(cluster, number+1))
	}
	for _, m := range cluster.Status.Members {
		names = append(names, m.Name)
	}
	names = append(names, cluster.Status.Synced...)
	slices.Sort(names)
	return slices.Compact(names)
}

// findByName reads an object of a member, unless the list has it, and reports whether it is this
// cluster's. One that is somebody else's is in the way of the member, which is not made.
func (r *Reconciler) findByName(ctx context.Context, o *observation, object client.Object, name string, listed bool) (ours bool, err error) {
	if listed {
		return false, nil
	}
	if err := r.Live.Get(ctx, types.NamespacedName{Namespace: o.Cluster.Namespace, Name: name}, object); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	switch {
	case !metav1.IsControlledBy(object, o.Cluster):
		o.Foreign = append(o.Foreign, kindAndName(object, name))
		o.TooSoon = append(o.TooSoon, name)
		if _, isDisk := object.(*corev1.PersistentVolumeClaim); isDisk {
			o.Strays = append(o.Strays, name)
		}
		return false, nil
	case object.GetLabels()[plan.SelectorLabel] != o.Cluster.Name: // or it was made since the list
		o.unlabelled = append(o.unlabelled, object)
	}
	return true, nil
}

// relabel gives members their label back: the Services select by it.
func (r *Reconciler) relabel(ctx context.Context, o observation) {
	for _, object := range o.unlabelled {
		what := kindAndName(object, object.GetName())
		if err := r.addLabel(ctx, object, o.Cluster.Name); err != nil {
			log.FromContext(ctx).Error(err, "a label could not be restored; trying again", "object", what)
			r.warn(o, plan.Decision{Action: "RestoreLabel"}, fmt.Errorf("restoring the label of the %s: %w", what, err))
			continue
		}
		r.record(o, plan.Decision{Action: "RestoreLabel", Reason: "LabelRestored", Warning: true, Note: fmt.Sprintf("the %s had lost its label %s and has it again", what, plan.SelectorLabel)})
	}
}

func (r *Reconciler) addLabel(ctx context.Context, object client.Object, cluster string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":    object.GetUID(), // the server refuses another one
		"labels": map[string]string{plan.SelectorLabel: cluster},
	}})
	if err != nil {
		return err
	}
	err = r.Patch(ctx, object.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, patch))
	return client.IgnoreNotFound(err)
}
