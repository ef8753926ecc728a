package operator

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// A name proves nothing, and neither does a label. What the operator changes or deletes it has made
// itself, for this very cluster: the object's controller has the cluster's UID. And the object that it
// looked at is the one that is written: each deletion names the object's own UID and each patch its
// version, or else the server refuses it.

// foreignError is an object of somebody else that has a name of ours, such as "Service db".
type foreignError string

func (e foreignError) Error() string {
	return fmt.Sprintf("the %s belongs to somebody else; delete it, or give the cluster another name", string(e))
}

// kindAndName names an object for people.
func kindAndName(object client.Object) string { return kindOf(object) + " " + object.GetName() }

func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }

// addUnlabelled adds the pods and disks of members that have lost their label, which a list does
// not show: they are looked for by name. A primary without its label is still the primary. As long
// as the list has all that is expected, this asks for nothing.
func (r *Reconciler) addUnlabelled(ctx context.Context, o *observation, pods *corev1.PodList, disks *corev1.PersistentVolumeClaimList) error {
	withPod, withDisk := sets.New[string](), sets.New[string]()
	for _, pod := range pods.Items {
		if metav1.IsControlledBy(&pod, o.Cluster) {
			withPod.Insert(pod.Name)
		}
	}
	for _, disk := range disks.Items {
		if metav1.IsControlledBy(&disk, o.Cluster) {
			withDisk.Insert(disk.Name)
		}
	}
	names := expected(o.Cluster, withPod.Union(withDisk))
	for _, name := range sets.List(names.Difference(withPod)) {
		pod := &corev1.Pod{ObjectMeta: named(o.Cluster, name)}
		ours, err := r.isMembers(ctx, o, pod)
		if err != nil {
			return err
		}
		if ours {
			pods.Items = append(pods.Items, *pod)
		}
	}
	for _, name := range sets.List(names.Difference(withDisk)) {
		disk := &corev1.PersistentVolumeClaim{ObjectMeta: named(o.Cluster, name)}
		ours, err := r.isMembers(ctx, o, disk)
		if err != nil {
			return err
		}
		if ours {
			disks.Items = append(disks.Items, *disk)
		}
	}
	return nil
}

// expected are the members that may be there: those that were a moment ago, those of which the list
// has one half, and, if that is too few, those that would be made next. If there seem to be none at
// all, it is any number.
func expected(cluster *postgres.PostgresCluster, listed sets.Set[string]) sets.Set[string] {
	numbers := int(cluster.Spec.Size)
	switch {
	case len(listed) == 0 && cluster.Status.Phase == postgres.Unsafe:
		numbers = maxSize
	case len(listed) >= numbers:
		numbers = 0
	}
	names := listed.Clone().Insert(cluster.Status.Synced...)
	for number := range numbers {
		names.Insert(plan.MemberName(cluster, number+1))
	}
	for _, m := range cluster.Status.Members {
		names.Insert(m.Name)
	}
	return names
}

// isMembers reads what has the name of a member, and reports whether it is this cluster's. What is
// somebody else's is in the way of the member, which is not made.
func (r *Reconciler) isMembers(ctx context.Context, o *observation, object client.Object) (ours bool, err error) {
	if found, err := r.read(ctx, object); err != nil || !found {
		return false, err
	}
	switch {
	case !metav1.IsControlledBy(object, o.Cluster):
		o.Foreign = append(o.Foreign, kindAndName(object))
		o.TooSoon = append(o.TooSoon, object.GetName())
		if _, isDisk := object.(*corev1.PersistentVolumeClaim); isDisk {
			o.Strays = append(o.Strays, object.GetName())
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
		what := kindAndName(object)
		err := r.patch(ctx, object, func() { addLabels(object, map[string]string{plan.SelectorLabel: o.Cluster.Name}) })
		switch {
		case err == nil:
			r.record(o, plan.Decision{Action: "RestoreLabel", Reason: "LabelRestored", Warning: true, Note: fmt.Sprintf("the %s had lost its label %s and has it again", what, plan.SelectorLabel)})
		case client.IgnoreNotFound(err) != nil:
			r.warn(ctx, o, "RestoreLabel", fmt.Errorf("restoring the label of the %s: %w", what, err))
		}
	}
}

// addLabels adds labels to those of an object.
func addLabels(object client.Object, more map[string]string) {
	object.SetLabels(labels.Merge(object.GetLabels(), more))
}
