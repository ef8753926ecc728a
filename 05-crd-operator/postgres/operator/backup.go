package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	validate "k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// madeForAnnotation is the UID of the cluster that a disk of backups was made for. The disk outlives
// its cluster, so it has no owner that could say so.
const madeForAnnotation = postgres.GroupName + "/made-for"

// sourceFlag is where a member finds the backups to restore.
const sourceFlag = "--source=/source"

// trialVolume is a disk for as long as a backup is being made.
const trialVolume = "trial"

// observeBackup finds out what there is for backups.
func (r *Reconciler) observeBackup(ctx context.Context, o *observation) error {
	spec, s := o.Cluster.Spec, o.Cluster.Status
	if spec.Backup != nil || s.Backup != nil {
		disk, found, err := r.readBackupDisk(ctx, o.Cluster, o.Cluster.Name)
		if err != nil {
			return err
		}
		if found && isBackupDisk(o.Cluster, disk) {
			o.backupDisk, o.Backup.Disk = disk, disk.DeletionTimestamp == nil
		}
		o.Backup.Foreign = found && o.backupDisk == nil
		if err := r.observeBackupPod(ctx, o); err != nil {
			return err
		}
	}
	if spec.RestoreFrom != nil && s.Phase == "" {
		_, found, err := r.readBackupDisk(ctx, o.Cluster, spec.RestoreFrom.Cluster)
		o.Source = found
		return err
	}
	return nil
}

// readBackupDisk reads the disk of a cluster's backups. There is none if that can be nobody's name: a
// client makes no request of it.
func (r *Reconciler) readBackupDisk(ctx context.Context, cluster *postgres.PostgresCluster, of string) (disk *corev1.PersistentVolumeClaim, found bool, err error) {
	disk = &corev1.PersistentVolumeClaim{ObjectMeta: named(cluster, plan.BackupName(of))}
	if len(validate.IsPathSegmentName(disk.Name)) > 0 {
		return nil, false, nil
	}
	found, err = r.read(ctx, disk)
	return disk, found, err
}

// isBackupDisk reports whether an operator has made a disk for the backups of a cluster of this name.
// What is on it may be an earlier one's: the archive itself refuses another database.
func isBackupDisk(cluster *postgres.PostgresCluster, disk *corev1.PersistentVolumeClaim) bool {
	return disk.Labels[plan.BackupLabel] == cluster.Name || goesWith(cluster, disk)
}

// goesWith reports whether a disk of backups is this very cluster's, which may delete it: it was made
// for it, or the cluster was made of what is on it.
func goesWith(cluster *postgres.PostgresCluster, disk *corev1.PersistentVolumeClaim) bool {
	from := cluster.Status.Restore
	continues := from != nil && from.Cluster == cluster.Name && disk.Labels[plan.BackupLabel] == cluster.Name
	return continues || disk.Annotations[madeForAnnotation] == string(cluster.UID)
}

// forPods is the cluster as its pods are made. A disk of somebody else, with the name of that of the
// backups, is mounted in none, nor is one that is being deleted: no pod with it would start.
func (o observation) forPods() *postgres.PostgresCluster {
	if !o.Backup.Foreign && !o.losesBackups() {
		return o.Cluster
	}
	cluster := o.Cluster.DeepCopy()
	cluster.Spec.Backup = nil
	return cluster
}

// losesBackups reports whether somebody has deleted the disk of the backups. It stays until the last pod that has
// it ends, and nobody hurries that: a person may want what is on it.
func (o observation) losesBackups() bool { return o.backupDisk != nil && !o.Backup.Disk }

// observeAge measures how long ago the last base backup was begun: the one in the status, or that of
// the pod. If there's no pod, it may be because it was refused.
func (o *observation) observeAge(tracker *tracker) {
	var begun time.Time
	if s := o.Cluster.Status.Backup; s != nil && s.Begun != nil {
		begun = s.Begun.Time
	}
	if o.Backup.Pod != nil {
		begun = o.Backup.Pod.Created
	}
	o.Backup.Age = tracker.backup.of(begun, o.Now)
	if o.Backup.Pod != nil {
		o.Backup.Pod.Waits = o.Now.Sub(tracker.backup.seen)
		tracker.refusal = ""
	}
	o.Backup.Refusal = tracker.refusal
}

func (r *Reconciler) observeBackupPod(ctx context.Context, o *observation) error {
	pod := &corev1.Pod{ObjectMeta: named(o.Cluster, plan.BackupName(o.Cluster.Name))}
	if found, err := r.read(ctx, pod); err != nil || !found {
		return err
	}
	if !metav1.IsControlledBy(pod, o.Cluster) {
		o.Foreign, o.TooSoon = append(o.Foreign, kindAndName(pod)), append(o.TooSoon, pod.Name)
		return nil
	}
	o.pods[pod.UID] = pod
	o.Backup.Pod = observedBackupPod(pod)
	return nil
}

// observedBackupPod goes by our container, if that has ended. The phase is about all of them, and
// a sidecar that somebody has added goes on.
func observedBackupPod(pod *corev1.Pod) *plan.BackupPod {
	observed := &plan.BackupPod{
		UID:       pod.UID,
		Created:   pod.CreationTimestamp.Time,
		Started:   pod.Status.Phase != corev1.PodPending,
		Succeeded: pod.Status.Phase == corev1.PodSucceeded,
		Failed:    pod.Status.Phase == corev1.PodFailed,
		Deleting:  pod.DeletionTimestamp != nil,
		Message:   pod.Status.Message,
	}
	for _, c := range pod.Status.ContainerStatuses {
		if end := c.State.Terminated; end != nil && c.Name == ourContainer {
			lines := strings.Split(strings.TrimSpace(end.Message), "\n")
			observed.Succeeded, observed.Failed, observed.Message = end.ExitCode == 0, end.ExitCode != 0, lines[len(lines)-1]
		}
	}
	return observed
}

// newBackupDisk is the disk of the backups. All members write to it. It belongs to nobody, so
// that it stays when the cluster is deleted in whatever way.
func newBackupDisk(cluster *postgres.PostgresCluster) *corev1.PersistentVolumeClaim {
	meta := named(cluster, plan.BackupName(cluster.Name))
	meta.Labels, meta.Annotations = map[string]string{plan.BackupLabel: cluster.Name}, map[string]string{madeForAnnotation: string(cluster.UID)}
	return &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: diskSpec(corev1.ReadWriteMany, cluster.Spec.Backup.Storage)}
}

// createBackup makes a base backup of a member. If its pod is refused, as by a quota, it's tried again
// ever more slowly: the rest of the cluster must not wait for it.
func (r *Reconciler) createBackup(ctx context.Context, o observation, d plan.Decision) error {
	i := slices.IndexFunc(o.Members, func(m plan.Member) bool { return m.Name == d.Member })
	if i < 0 || o.Members[i].Report == nil {
		return fmt.Errorf("%s does not answer", d.Member)
	}
	r.backoff.Next(attempt(o.Cluster, plan.BackupName(o.Cluster.Name)), o.Now)
	err := r.Create(ctx, r.newBackupPod(o.Cluster, o.Members[i]))
	if err != nil {
		r.trackerOf(client.ObjectKeyFromObject(o.Cluster)).refusal = fmt.Sprintf("%.1000s", err)
	}
	return err
}

// newBackupPod copies a member, and restores the copy on a disk that goes with the pod.
func (r *Reconciler) newBackupPod(cluster *postgres.PostgresCluster, from plan.Member) *corev1.Pod {
	name := plan.BackupName(cluster.Name)
	pod := &corev1.Pod{ObjectMeta: objectMeta(cluster, name)}
	pod.Labels = map[string]string{plan.BackupLabel: cluster.Name}
	container := containerOf(r.Image,
		"backup", "--member="+from.Name, "--address="+from.Report.Address, "--member-uid="+string(from.Pod.UID),
		"--backup=/backup", "--trial=/trial", fmt.Sprintf("--keep=%d", cluster.Spec.Backup.Keep), secretsFlag)
	container.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: backupVolume, MountPath: "/backup"}, corev1.VolumeMount{Name: trialVolume, MountPath: "/trial"})
	pod.Spec = podSpec(cluster, container)
	pod.Spec.AutomountServiceAccountToken = new(false)
	pod.Spec.Volumes = append(pod.Spec.Volumes, claimed(backupVolume, plan.BackupName(cluster.Name)), corev1.Volume{Name: trialVolume, VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: newDisk(cluster, name).Spec},
	}}})
	return pod
}

// addBackup gives a member what it needs to archive its log, and to restore a backup if that is
// what its cluster is about.
func addBackup(pod *corev1.Pod, cluster *postgres.PostgresCluster) {
	container := &pod.Spec.Containers[0]
	mount := func(volume corev1.Volume, path string, readOnly bool) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: path, ReadOnly: readOnly})
	}
	if backup := cluster.Spec.Backup; backup != nil {
		container.Args = append(container.Args, "--backup=/backup", "--archive-timeout="+backup.ArchiveTimeout.Duration.String())
		mount(claimed(backupVolume, plan.BackupName(cluster.Name)), "/backup", false)
	}
	if from := cluster.Status.Restore; from != nil && plan.Making(cluster.Status.Phase) {
		container.Args = append(container.Args, sourceFlag)
		mount(claimed(sourceVolume, plan.BackupName(from.Cluster)), "/source", true)
	}
}

// endBackups deletes the disk of the backups, if that is wanted. That of an earlier cluster of this
// name may be all that is left of it, so it stays.
func (r *Reconciler) endBackups(ctx context.Context, o observation) error {
	spec, disk := o.Cluster.Spec.Backup, o.backupDisk
	if spec == nil || spec.OnDelete != postgres.Delete || disk == nil {
		return nil
	}
	if !goesWith(o.Cluster, disk) {
		r.record(o, plan.Decision{Action: "DeleteBackups", Reason: "BackupsStay", Warning: true,
			Note: fmt.Sprintf("the PersistentVolumeClaim %s was made for an earlier cluster of this name, so it stays; delete it if nobody needs its backups", disk.Name)})
		return nil
	}
	return client.IgnoreNotFound(r.Delete(ctx, disk, client.Preconditions{UID: &disk.UID}))
}
