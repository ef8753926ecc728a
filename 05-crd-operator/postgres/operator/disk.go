package operator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// newDisk is the disk of a member. It outlives its pods.
func newDisk(cluster *postgres.PostgresCluster, name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: objectMeta(cluster, name), Spec: diskSpec(corev1.ReadWriteOnce, cluster.Spec.Storage)}
}

func diskSpec(mode corev1.PersistentVolumeAccessMode, size resource.Quantity) corev1.PersistentVolumeClaimSpec {
	if size.IsZero() {
		size = resource.MustParse("1Gi")
	}
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{mode},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
	}
}

// growDisks has the disks of the cluster ask for as much as the spec has. Kubernetes lets them
// shrink never, so a smaller spec is about new disks only. Whether they may grow, the
// StorageClass says.
func (r *Reconciler) growDisks(ctx context.Context, o observation) {
	for _, m := range o.Members {
		r.growDisk(ctx, o, o.disks[m.Name], o.Cluster.Spec.Storage)
	}
	if backup := o.Cluster.Spec.Backup; backup != nil {
		r.growDisk(ctx, o, o.backupDisk, backup.Storage)
	}
}

func (r *Reconciler) growDisk(ctx context.Context, o observation, disk *corev1.PersistentVolumeClaim, wanted resource.Quantity) {
	if disk == nil || disk.Status.Phase != corev1.ClaimBound || disk.DeletionTimestamp != nil {
		return
	}
	before := disk.Spec.Resources.Requests[corev1.ResourceStorage]
	if before.Cmp(wanted) >= 0 {
		return
	}
	err := r.patch(ctx, disk, func() { disk.Spec.Resources.Requests[corev1.ResourceStorage] = wanted })
	switch {
	case err == nil:
		r.record(o, plan.Decision{Action: "GrowDisk", Reason: "DiskGrows", Note: fmt.Sprintf("the disk %s grows from %s to %s", disk.Name, before.String(), wanted.String())})
	case client.IgnoreNotFound(err) != nil:
		r.warn(ctx, o, "GrowDisk", fmt.Errorf("growing the disk %s to %s: %w", disk.Name, wanted.String(), err))
	}
}
