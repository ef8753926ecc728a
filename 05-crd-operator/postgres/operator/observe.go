package operator

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// observation is what plan decides by, and the objects that it was made of.
type observation struct {
	plan.Observed
	lease      *coordinationv1.Lease
	pods       map[types.UID]*corev1.Pod
	disks      map[string]*corev1.PersistentVolumeClaim // by the names of members
	backupDisk *corev1.PersistentVolumeClaim            // nil if there is none that is a cluster's of this name
	unlabelled []client.Object                          // of members, without their label
}

// observe finds out what there is. All of it is read live: a decision may end a primary, and a
// cache may be stale.
func (r *Reconciler) observe(ctx context.Context, name types.NamespacedName) (observation, error) {
	return r.observeFrom(ctx, r.Live, name, plan.Observed{})
}

// observeFrom reads from the API server, or from the cache. What isn't in the cache is then as it was
// when it was read last.
func (r *Reconciler) observeFrom(ctx context.Context, from client.Reader, name types.NamespacedName, last plan.Observed) (observation, error) {
	o := observation{Observed: last, pods: map[types.UID]*corev1.Pod{}, disks: map[string]*corev1.PersistentVolumeClaim{}}
	o.Cluster, o.Version, o.TooSoon = &postgres.PostgresCluster{}, r.Version, nil
	live := last.Now.IsZero()
	if err := from.Get(ctx, name, o.Cluster); err != nil {
		return o, err
	}
	o.Now = r.Clock.Now()
	tracker := r.trackerOf(name)
	o.Leaderless = tracker.leaderless(o.Cluster.Status.Phase, o.Now)
	if live {
		if err := r.observeLease(ctx, &o, tracker); err != nil {
			return o, err
		}
	}
	var pods corev1.PodList
	var disks corev1.PersistentVolumeClaimList
	for _, list := range []client.ObjectList{&pods, &disks} {
		if err := from.List(ctx, list, client.InNamespace(name.Namespace), client.MatchingLabels{plan.SelectorLabel: name.Name}); err != nil {
			return o, err
		}
	}
	if live {
		if err := r.addUnlabelled(ctx, &o, &pods, &disks); err != nil {
			return o, err
		}
	}
	o.addMembers(pods.Items, disks.Items)
	if live {
		if err := r.observeBackup(ctx, &o); err != nil {
			return o, err
		}
		o.Foreign = append(o.Foreign, tracker.foreign...)
	}
	r.observeOutdated(&o, tracker)
	o.observeAge(tracker)
	r.observeAttempts(&o)
	r.ask(ctx, &o, tracker)
	r.lags.Store(name, o.Lags())
	return o, nil
}

// read reads an object live, and reports whether it is there.
func (r *Reconciler) read(ctx context.Context, object client.Object) (found bool, err error) {
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(object), object)
	return err == nil, client.IgnoreNotFound(err)
}

// observeLease finds out who may take writes. The first Lease is made with the first member. If somebody
// deletes it later, nobody knows who held it: it is made again, and held until it would have run out.
func (r *Reconciler) observeLease(ctx context.Context, o *observation, tracker *tracker) error {
	lease, asked := &coordinationv1.Lease{ObjectMeta: named(o.Cluster, o.Cluster.Name)}, r.Clock.Now()
	found, err := r.read(ctx, lease)
	if s := o.Cluster.Status; err == nil && !found {
		if o.Cluster.DeletionTimestamp != nil || s.PrimaryUID == "" && s.Phase != postgres.Electing && s.Phase != postgres.Unsafe {
			return nil // in a namespace that is being deleted, too, none can be made
		}
		lease.ObjectMeta, lease.Spec.HolderIdentity = objectMeta(o.Cluster, o.Cluster.Name), new("unknown")
		err = r.Create(ctx, lease)
	}
	if err != nil {
		return err
	}
	o.lease = lease
	if !metav1.IsControlledBy(lease, o.Cluster) {
		o.Foreign = append(o.Foreign, kindAndName(lease))
		o.Lease.Holder = "somebody else" // for as long as it is theirs
		return nil
	}
	o.Lease = plan.Lease{
		Holder:  types.UID(ptr.Deref(lease.Spec.HolderIdentity, "")),
		Expired: tracker.expired(lease, asked, r.Clock.Now()),
	}
	return nil
}

// addMembers adds all that have a pod or a disk.
func (o *observation) addMembers(pods []corev1.Pod, disks []corev1.PersistentVolumeClaim) {
	members := map[int]*plan.Member{}
	member := func(object client.Object) *plan.Member {
		suffix, found := strings.CutPrefix(object.GetName(), o.Cluster.Name+"-")
		number, err := strconv.Atoi(suffix)
		if !found || err != nil || !metav1.IsControlledBy(object, o.Cluster) {
			return &plan.Member{} // somebody else's, with our label
		}
		if members[number] == nil {
			members[number] = &plan.Member{Name: object.GetName(), Number: number}
		}
		return members[number]
	}
	for _, disk := range disks {
		m := member(&disk)
		m.Disk, m.Storage = plan.HasDisk, *disk.Status.Capacity.Storage()
		if disk.DeletionTimestamp != nil {
			m.Disk = plan.DiskDeleting
		}
		o.disks[m.Name] = &disk
	}
	for _, pod := range pods {
		o.pods[pod.UID] = &pod
		member(&pod).Pod = &plan.Pod{
			UID:      pod.UID,
			Started:  started(&pod),
			Ended:    ended(&pod),
			Deleting: pod.DeletionTimestamp != nil,
			Role:     plan.Role(pod.Labels[plan.RoleLabel]),
		}
	}
	for _, m := range members {
		o.Members = append(o.Members, *m)
	}
	slices.SortFunc(o.Members, func(a, b plan.Member) int { return cmp.Compare(a.Number, b.Number) })
}

// observeAttempts finds out which pods have ended, or were refused, too often to be made again now. A
// user who deletes a disk wants a new one now, and what ended on the last one does not count.
func (r *Reconciler) observeAttempts(o *observation) {
	for _, m := range o.Members {
		if m.Disk == plan.DiskDeleting {
			r.backoff.Reset(attempt(o.Cluster, m.Name))
		}
	}
	names := []string{plan.BackupName(o.Cluster.Name)}
	for number := range maxSize {
		names = append(names, plan.MemberName(o.Cluster, number+1))
	}
	for _, name := range names {
		if r.backoff.IsInBackOffSinceUpdate(attempt(o.Cluster, name), o.Now) {
			o.TooSoon = append(o.TooSoon, name)
		}
	}
}

// started reports whether the agent was started.
func started(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil || c.State.Terminated != nil
	})
}

// ended reports whether it is certain that no process is left: the kubelet says so of each
// container or of the pod, or there never was a kubelet.
func ended(pod *corev1.Pod) bool {
	if pod.Spec.NodeName == "" {
		return pod.DeletionTimestamp != nil
	}
	final := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	if final && !slices.ContainsFunc(pod.Status.Conditions, lost) {
		return true
	}
	running := func(c corev1.ContainerStatus) bool { return c.State.Terminated == nil }
	return len(pod.Status.ContainerStatuses) == len(pod.Spec.Containers) && !slices.ContainsFunc(pod.Status.ContainerStatuses, running)
}

// lost is the condition of a pod whose node no longer exists. Pod garbage collection gives it this, and
// the phase Failed, and nobody knows whether it runs. The kubelet gives a pod that phase only when
// nothing runs: it may have rejected it, or a container before ours has failed. Pod garbage collection
// also does, of a node that is out of service: by that taint, a person has said that it's off.
func lost(c corev1.PodCondition) bool {
	return c.Type == corev1.DisruptionTarget && c.Reason == "DeletionByPodGC"
}
