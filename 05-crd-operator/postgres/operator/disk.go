package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// newDisk is the disk of a member. It outlives its pods.
func (r *Reconciler) newDisk(cluster *postgres.PostgresCluster, name string) *corev1.PersistentVolumeClaim {
	size := cluster.Spec.Storage
	if size.IsZero() {
		size = resource.MustParse("1Gi")
	}
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: objectMeta(cluster, name),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
}

// growDisks has the disks of the cluster ask for as much as the spec has. Kubernetes lets them
// shrink never, so a smaller spec is about new disks only. Whether they may grow, the
// StorageClass says.
func (r *Reconciler) growDisks(ctx context.Context, o observation) {
	var failed []error
	grow := func(disk *corev1.PersistentVolumeClaim, wanted resource.Quantity) {
		if err := r.growDisk(ctx, o, disk, wanted); err != nil {
			failed = append(failed, fmt.Errorf("growing the disk %s to %s: %w", disk.Name, wanted.String(), err))
		}
	}
	for _, m := range o.Members {
		if disk := o.disks[m.Name]; disk != nil {
			grow(disk, o.Cluster.Spec.Storage)
		}
	}
	if backup := o.Cluster.Spec.Backup; backup != nil && o.backupDisk != nil {
		grow(o.backupDisk, backup.Storage)
	}
	if err := errors.Join(failed...); err != nil {
		log.FromContext(ctx).Error(err, "a disk does not grow; trying again")
		r.warn(o, plan.Decision{Action: "GrowDisk"}, err)
	}
}

func (r *Reconciler) growDisk(ctx context.Context, o observation, disk *corev1.PersistentVolumeClaim, wanted resource.Quantity) error {
	before := disk.Spec.Resources.Requests[corev1.ResourceStorage]
	if disk.Status.Phase != corev1.ClaimBound || disk.DeletionTimestamp != nil || before.Cmp(wanted) >= 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": disk.UID},
		"spec":     map[string]any{"resources": map[string]any{"requests": corev1.ResourceList{corev1.ResourceStorage: wanted}}},
	})
	if err == nil {
		err = r.Patch(ctx, disk.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	}
	if err == nil {
		r.record(o, plan.Decision{Action: "GrowDisk", Reason: "DiskGrows", Note: fmt.Sprintf("the disk %s grows from %s to %s", disk.Name, before.String(), wanted.String())})
	}
	return client.IgnoreNotFound(err)
}
