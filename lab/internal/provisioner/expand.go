package provisioner

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// createClass creates the StorageClass, or makes that of an older lab allow volumes to grow.
// What a user has chosen there stays.
func createClass(ctx context.Context, client kubernetes.Interface) error {
	classes := client.StorageV1().StorageClasses()
	_, err := classes.Create(ctx, defaultClass(), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	class, err := classes.Get(ctx, ClassName, metav1.GetOptions{})
	if err != nil || class.AllowVolumeExpansion != nil {
		return err
	}
	class.AllowVolumeExpansion = new(true)
	_, err = classes.Update(ctx, class, metav1.UpdateOptions{})
	return err
}

// toExpand reports whether the claim asks for more than its volume has. That the StorageClass
// allows it, the API server has checked.
func toExpand(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil &&
		claim.Spec.Resources.Requests.Storage().Cmp(*claim.Status.Capacity.Storage()) > 0
}

// expand lets a volume grow with its claim. It takes the place of a CSI driver's external
// resizer, and writes in its order: first the capacity of the volume, then that of the claim.
// It may be called again after either. The folder has no size, so nothing is done to it.
func (p *provisioner) expand(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	volume, err := p.volumes.Get(claim.Spec.VolumeName)
	if err != nil || volume.Annotations[annProvisionedBy] != Name {
		return ignoreNotFound(err)
	}
	wanted := *claim.Spec.Resources.Requests.Storage()
	if volume.Spec.Capacity.Storage().Cmp(wanted) < 0 {
		volume = volume.DeepCopy()
		volume.Spec.Capacity[corev1.ResourceStorage] = wanted
		if _, err := p.client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	claim = claim.DeepCopy()
	claim.Status.Capacity[corev1.ResourceStorage] = *volume.Spec.Capacity.Storage()
	if _, err := p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{}); err != nil {
		return ignoreNotFound(err)
	}
	p.events.Eventf(claim, corev1.EventTypeNormal, "VolumeResizeSuccessful", "Volume %s has %s now; nobody enforces that", volume.Name, volume.Spec.Capacity.Storage())
	return nil
}
