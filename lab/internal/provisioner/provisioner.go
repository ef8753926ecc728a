// Package provisioner makes the volumes of PersistentVolumeClaims: each is a folder of
// the lab's. It takes the place of a CSI driver's external provisioner and resizer.
package provisioner

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	storageutil "k8s.io/kubernetes/pkg/apis/storage/util"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
)

const (
	// Name is the provisioner that a StorageClass of the lab names.
	Name = "example.com/lab"
	// ClassName is the default StorageClass, which the lab creates.
	ClassName = "lab"

	// The controller manager notes on a claim who is to make its volume, and we note
	// on the volume who has made it.
	annStorageProvisioner = "volume.kubernetes.io/storage-provisioner"
	annProvisionedBy      = volumeutil.VolumeDynamicallyCreatedByKey
)

// maxRetry is the longest pause between two tries.
const maxRetry = 30 * time.Second

type provisioner struct {
	client  kubernetes.Interface
	folders folders
	node    string
	events  record.EventRecorder
	log     *slog.Logger

	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// Run makes volumes in dir, which is on node, until ctx ends, lets them grow with their claims,
// and deletes those whose claims were deleted.
func Run(ctx context.Context, client kubernetes.Interface, dir, node string, events record.EventRecorder, log *slog.Logger) error {
	if err := createClass(ctx, client); err != nil {
		return fmt.Errorf("creating the StorageClass %s: %w", ClassName, err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	core := factory.Core().V1()
	p := &provisioner{
		client: client, folders: folders{dir}, node: node, events: events, log: log,
		claims:  core.PersistentVolumeClaims().Lister(),
		volumes: core.PersistentVolumes().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, maxRetry)),
	}
	for _, informer := range []cache.SharedIndexInformer{core.PersistentVolumeClaims().Informer(), core.PersistentVolumes().Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    p.enqueue,
			UpdateFunc: func(_, object any) { p.enqueue(object) },
		}); err != nil {
			return err
		}
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	factory.WaitForCacheSyncWithContext(ctx)
	defer context.AfterFunc(ctx, p.queue.ShutDown)()
	for p.processNext(ctx) {
	}
	return nil
}

// defaultClass binds at once: there is one node that has such volumes, so that waiting
// for a pod would teach the provisioner nothing.
func defaultClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        ClassName,
			Annotations: map[string]string{storageutil.IsDefaultStorageClassAnnotation: "true"},
		},
		Provisioner:          Name,
		ReclaimPolicy:        new(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    new(storagev1.VolumeBindingImmediate),
		AllowVolumeExpansion: new(true),
	}
}

func (p *provisioner) enqueue(object any) {
	if key, err := cache.ObjectToName(object); err == nil {
		p.queue.Add(key)
	}
}

func (p *provisioner) processNext(ctx context.Context) bool {
	key, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(key)
	if err := p.sync(ctx, key); err != nil {
		p.log.Warn("syncing a volume", "name", key, "err", err)
		p.queue.AddRateLimited(key)
	} else {
		p.queue.Forget(key)
	}
	return true
}

// sync handles a claim, which has a namespace, or a volume, which has none.
func (p *provisioner) sync(ctx context.Context, key cache.ObjectName) error {
	if key.Namespace == "" {
		volume, err := p.volumes.Get(key.Name)
		if err != nil || !toDelete(volume) {
			return ignoreNotFound(err)
		}
		return p.delete(ctx, volume)
	}
	claim, err := p.claims.PersistentVolumeClaims(key.Namespace).Get(key.Name)
	switch {
	case err != nil:
		return ignoreNotFound(err)
	case toProvision(claim):
		return p.provision(ctx, claim)
	case toExpand(claim):
		return p.expand(ctx, claim)
	}
	return nil
}

func toProvision(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Spec.VolumeName == "" && claim.DeletionTimestamp == nil && claim.Annotations[annStorageProvisioner] == Name
}

func toDelete(volume *corev1.PersistentVolume) bool {
	return volume.Annotations[annProvisionedBy] == Name && volume.Status.Phase == corev1.VolumeReleased &&
		volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}

// provision makes a volume for the claim. It may be called again: the names of the
// volume and of its folder follow from the claim.
func (p *provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	name := "pvc-" + string(claim.UID)
	if _, err := p.volumes.Get(name); err == nil {
		return nil // the controller manager is about to bind it
	}
	if reason := unsupported(claim); reason != "" {
		p.events.Event(claim, corev1.EventTypeWarning, "ProvisioningFailed", reason)
		return nil
	}
	class, err := p.client.StorageV1().StorageClasses().Get(ctx, storagehelpers.GetPersistentVolumeClaimClass(claim), metav1.GetOptions{})
	if err != nil {
		return err
	}
	volume := newVolume(name, claim, class, p.node)
	volume.Spec.HostPath.Path, err = p.folders.create(volume.Spec.ClaimRef)
	if err != nil {
		p.events.Event(claim, corev1.EventTypeWarning, "ProvisioningFailed", err.Error())
		return err
	}
	if _, err := p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	p.events.Eventf(claim, corev1.EventTypeNormal, "ProvisioningSucceeded", "Volume %s is the folder %s", name, volume.Spec.HostPath.Path)
	return nil
}

// unsupported returns why there can be no volume for the claim, if so.
func unsupported(claim *corev1.PersistentVolumeClaim) string {
	switch spec := claim.Spec; {
	case spec.VolumeMode != nil && *spec.VolumeMode == corev1.PersistentVolumeBlock:
		return "the lab has no block devices (use volumeMode: Filesystem)"
	case spec.DataSource != nil || spec.DataSourceRef != nil:
		return "the lab copies no volumes (leave dataSource out, and let a pod copy the files)"
	case spec.Selector != nil:
		return "the lab's volumes have no labels to select by (leave selector out)"
	}
	return ""
}

// newVolume returns the volume without its path. Only pods on node can use it.
func newVolume(name string, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, node string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{annProvisionedBy: Name}},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              class.Name,
			PersistentVolumeReclaimPolicy: *class.ReclaimPolicy,
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
			}}}},
		},
	}
}

// delete deletes the folder, then the volume.
func (p *provisioner) delete(ctx context.Context, volume *corev1.PersistentVolume) error {
	if err := p.folders.remove(volume); err != nil {
		p.events.Event(volume, corev1.EventTypeWarning, "VolumeFailedDelete", err.Error())
		return err
	}
	return ignoreNotFound(p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(volume.UID)),
	}))
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
