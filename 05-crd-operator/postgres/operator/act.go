package operator

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// graceSeconds is how long the containers of a deleted pod get to end. PostgreSQL loses
// nothing if it is killed, and a failover may wait for its end.
const graceSeconds = 1

// act does what was decided, unless it is to write the status: describe does that.
func (r *Reconciler) act(ctx context.Context, o observation, d plan.Decision) error {
	var err error
	switch d.Action {
	case plan.None, plan.WriteStatus:
		return nil
	case plan.CreateMember:
		err = r.createMember(ctx, o, d.Member)
	case plan.DeletePod, plan.DeleteBackup:
		err = r.deletePod(ctx, o, d, graceSeconds)
	case plan.RemovePod:
		err = r.removePod(ctx, o, d)
	case plan.DeleteDisk:
		err = r.deleteDisk(ctx, o, d.Member)
	case plan.FreeLease:
		err = r.freeLease(ctx, o, d.UID)
	case plan.SetRole:
		pod := o.pods[d.UID]
		err = r.patch(ctx, pod, func() { addLabels(pod, map[string]string{plan.RoleLabel: string(d.Role)}) })
	case plan.CreateBackup:
		err = r.createBackup(ctx, o, d)
	case plan.RemoveFinalizer:
		err = r.finish(ctx, o)
	default:
		return fmt.Errorf("action %q is not known", d.Action)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", d.Action, d.Member, err)
	}
	r.record(o, d)
	return nil
}

// describe writes the status: what was decided about it, and what people see. It is refused if
// the cluster has changed since it was observed.
func (r *Reconciler) describe(ctx context.Context, o observation, d plan.Decision) error {
	if d.Action == plan.RemoveFinalizer {
		return nil // the cluster is gone
	}
	cluster := o.Cluster.DeepCopy()
	if d.Action == plan.WriteStatus {
		cluster.Status = *d.Status
	}
	if changed := o.Describe(&cluster.Status); !changed && d.Action != plan.WriteStatus {
		return nil
	}
	if err := r.Status().Update(ctx, cluster); err != nil {
		return err
	}
	if d.Action == plan.WriteStatus {
		r.record(o, d)
	}
	for _, d := range news(o.Cluster.Status, cluster.Status) {
		r.record(o, d)
	}
	return nil
}

// attempt is the name under which the attempts to make a pod are counted.
func attempt(cluster *postgres.PostgresCluster, pod string) string {
	return string(cluster.UID) + "/" + pod
}

// createMember makes what a member lacks: its disk, its pod. One that ends, or cannot be made,
// again and again is tried ever more slowly.
func (r *Reconciler) createMember(ctx context.Context, o observation, name string) error {
	r.backoff.Next(attempt(o.Cluster, name), o.Now)
	r.backoff.GC()
	if err := r.makeForMembers(ctx, o); err != nil {
		return err
	}
	if o.disks[name] == nil {
		if err := r.Create(ctx, newDisk(o.Cluster, name)); err != nil {
			return err
		}
	}
	return r.Create(ctx, r.newPod(o.forPods(), name))
}

// deletePod deletes the pod that was meant, and no later one of that name.
func (r *Reconciler) deletePod(ctx context.Context, o observation, d plan.Decision, grace int64) error {
	return client.IgnoreNotFound(r.Delete(ctx, o.pods[d.UID], client.Preconditions{UID: &d.UID}, client.GracePeriodSeconds(grace)))
}

// removePod lets a pod go that has ended. An operator that dies between the two writes, again and
// again, must come to the second one.
func (r *Reconciler) removePod(ctx context.Context, o observation, d plan.Decision) error {
	if pod := o.pods[d.UID]; controllerutil.ContainsFinalizer(pod, finalizer) {
		if err := r.patch(ctx, pod, func() { controllerutil.RemoveFinalizer(pod, finalizer) }); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	return r.deletePod(ctx, o, d, 0)
}

// patch changes an object, unless it has changed since it was read, or is another one by now.
func (r *Reconciler) patch(ctx context.Context, object client.Object, change func()) error {
	before := object.DeepCopyObject().(client.Object)
	change()
	return r.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// checkUnchanged returns an error if the cluster has changed since it was observed. To write a
// status that is the same is to ask that.
func (r *Reconciler) checkUnchanged(ctx context.Context, o observation) error {
	return r.Status().Update(ctx, o.Cluster.DeepCopy())
}

// deleteDisk deletes a disk, unless the cluster has changed: this member may be synced by now.
func (r *Reconciler) deleteDisk(ctx context.Context, o observation, name string) error {
	if err := r.checkUnchanged(ctx, o); err != nil {
		return err
	}
	disk := o.disks[name]
	if disk == nil {
		return errors.New("there is no disk")
	}
	return client.IgnoreNotFound(r.Delete(ctx, disk, client.Preconditions{UID: &disk.UID}))
}

// finish lets the cluster go. What it owns, the garbage collector takes away.
func (r *Reconciler) finish(ctx context.Context, o observation) error {
	if err := r.checkUnchanged(ctx, o); err != nil {
		return err // it may be gone, and another one be there
	}
	if err := r.endBackups(ctx, o); err != nil {
		return err
	}
	cluster := o.Cluster.DeepCopy()
	controllerutil.RemoveFinalizer(cluster, finalizer)
	return r.Update(ctx, cluster)
}

// freeLease makes the Lease nobody's, unless it was renewed or taken since it was observed. No member
// takes it that knows of an older term only.
func (r *Reconciler) freeLease(ctx context.Context, o observation, holder types.UID) error {
	if o.lease == nil || o.Lease.Holder != holder {
		return apierrors.NewConflict(corev1.Resource("leases"), o.Cluster.Name, errors.New("another has it"))
	}
	lease := o.lease.DeepCopy()
	lease.Spec.HolderIdentity, lease.Spec.LeaseTransitions = nil, new(int32(o.Cluster.Status.Term))
	return r.Update(ctx, lease)
}
