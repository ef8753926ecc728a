package operator

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// createBackedUp makes a cluster with backups, and lets it settle.
func (e *env) createBackedUp(size int32, then postgres.RetentionPolicy) *postgres.PostgresCluster {
	e.Helper()
	cluster := &postgres.PostgresCluster{ObjectMeta: e.meta("db"), Spec: postgres.PostgresClusterSpec{Size: size, Backup: &postgres.Backup{Schedule: "@every 1h", OnDelete: then}}}
	require.NoError(e, e.Create(e.Context(), cluster))
	e.settle()
	return cluster
}

// archives has the primary say that it archives, with base backups or without.
func (e *env) archives(a plan.Archive) {
	e.change(func() { e.archive = &a })
}

// backsUp works until there is a pod that makes a backup.
func (e *env) backsUp() *corev1.Pod {
	e.Helper()
	pod := &corev1.Pod{}
	e.until(func(*postgres.PostgresCluster) bool {
		err := e.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: "db-backup"}, pod)
		require.NoError(e, client.IgnoreNotFound(err))
		return err == nil
	})
	return pod
}

func (e *env) backupPods() []corev1.Pod {
	e.Helper()
	var pods corev1.PodList
	require.NoError(e, e.List(e.Context(), &pods, client.InNamespace(e.namespace), client.HasLabels{plan.BackupLabel}))
	return pods.Items
}

// ends has the pod of a backup end, and works until it is gone.
func (e *env) ends(pod *corev1.Pod, phase corev1.PodPhase, message string) {
	e.Helper()
	end := &corev1.ContainerStateTerminated{Message: message}
	if phase == corev1.PodFailed {
		end.ExitCode = 1
	}
	e.report(pod, corev1.PodStatus{Phase: phase}, corev1.ContainerState{Terminated: end})
	e.goes(pod)
}

// goes works until a pod is gone.
func (e *env) goes(pod *corev1.Pod) {
	e.Helper()
	e.until(func(*postgres.PostgresCluster) bool {
		return apierrors.IsNotFound(e.Get(e.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}))
	})
}

func TestBackupsAreMade(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(3, postgres.Retain)
	disk := get(e, "db-backup", &corev1.PersistentVolumeClaim{})
	assert.Empty(t, disk.OwnerReferences)
	assert.Equal(t, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, disk.Spec.AccessModes)
	assert.Contains(t, e.pod("db-2").Spec.Containers[0].Args, "--backup=/backup")

	e.archives(plan.Archive{})
	pod := e.backsUp()
	args := pod.Spec.Containers[0].Args
	assert.Contains(t, args, "--member-uid="+string(e.pod("db-3").UID))
	assert.Contains(t, args, "--keep=7")
	assert.False(t, *pod.Spec.AutomountServiceAccountToken)
	e.recorded()
	e.ends(pod, corev1.PodFailed, "copied\nerror: no space left\n")
	assert.EqualValues(t, 1, e.cluster().Status.Backup.Failures)
	assert.Contains(t, e.recorded(), "Warning BackupFailed a base backup has failed: error: no space left")

	again := e.backsUp()
	assert.NotEqual(t, pod.UID, again.UID)
	now := e.clock.Now()
	e.archives(plan.Archive{First: now, Last: now, Until: now.Add(time.Minute)})
	e.ends(again, corev1.PodSucceeded, "")
	s := e.cluster().Status
	assert.Zero(t, s.Backup.Failures)
	assert.True(t, meta.IsStatusConditionTrue(s.Conditions, postgres.BackedUp))

	e.settle()
	assert.Empty(t, e.backupPods())
	e.clock.Step(time.Hour)
	e.backsUp()
}

// refusePods has the API server refuse all pods.
func (e *env) refusePods() *corev1.ResourceQuota {
	e.Helper()
	two := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}
	quota := &corev1.ResourceQuota{ObjectMeta: e.meta("two"), Spec: corev1.ResourceQuotaSpec{Hard: two}}
	require.NoError(e, e.Create(e.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: two, Used: two}
	require.NoError(e, e.Status().Update(e.Context(), quota)) // there is no controller that counts
	require.Eventually(e, func() bool {
		pod := &corev1.Pod{ObjectMeta: e.meta("other"), Spec: corev1.PodSpec{Containers: restricted("a")}}
		return apierrors.IsForbidden(e.Create(e.Context(), pod, client.DryRunAll))
	}, testcluster.TestTimeout, 10*time.Millisecond)
	return quota
}

// Whatever refuses the pod of a backup, the rest of the cluster is looked after.
func TestABackupWhosePodIsRefusedHoldsUpNothing(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(2, postgres.Retain)
	quota := e.refusePods()
	e.archives(plan.Archive{})
	require.NoError(t, e.Delete(t.Context(), get(e, "db", &corev1.Service{})))
	for range 60 {
		e.reconcile()
	}
	get(e, "db", &corev1.Service{}) // it is back
	created := slices.DeleteFunc(e.requests.Take(), func(request string) bool { return request != "create pods" })
	assert.LessOrEqual(t, len(created), 12, "it's tried again and again")
	backedUp := func() *metav1.Condition {
		return meta.FindStatusCondition(e.cluster().Status.Conditions, postgres.BackedUp)
	}
	assert.Equal(t, "BackupFailed", backedUp().Reason)
	assert.Contains(t, backedUp().Message, "exceeded quota")

	require.NoError(t, e.Delete(t.Context(), quota))
	e.backsUp()
	e.reconcile()
	assert.Equal(t, "Waiting", backedUp().Reason)
}

// A sidecar goes on when the backup is done, and may end before.
func TestASidecarIsNotTheBackup(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(1, postgres.Retain)
	e.archives(plan.Archive{})
	pod := e.backsUp()
	ends := func(code int32, message string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}
	}
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	beside := func(proxy corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "proxy", State: proxy}}}
	}
	e.report(pod, beside(ends(1, "the proxy")), runs)
	e.reconcile()
	e.report(pod, beside(ends(1, "the proxy")), ends(1, "no space left"))
	e.goes(pod)
	assert.Contains(t, e.recorded(), "Warning BackupFailed a base backup has failed: no space left")

	pod = e.backsUp()
	e.report(pod, beside(runs), ends(0, ""))
	e.goes(pod)
	assert.Contains(t, e.recorded(), "Normal BackedUp a base backup was made, restored on trial, and kept")
	assert.Zero(t, e.cluster().Status.Backup.Failures)
}

// The API server dates pods, and the operator's clock differs.
func TestBackupsAreMadeByAnyClock(t *testing.T) {
	const years = 2 * 365 * 24 * time.Hour
	for name, wrong := range map[string]time.Duration{"eleven minutes ahead": 11 * time.Minute, "two years ahead": years, "two years behind": -years} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.clock.Step(wrong)
			e.createBackedUp(2, postgres.Retain)
			e.archives(plan.Archive{})
			pod := e.backsUp() // and waits for a node
			e.reconcile()
			assert.Empty(t, e.cluster().Status.Backup.Failures)
			now := time.Now()
			e.archives(plan.Archive{First: now, Last: now, Until: now})
			e.ends(pod, corev1.PodSucceeded, "")
			for begun := e.clock.Now(); e.clock.Now().Sub(begun) < 50*time.Minute; e.clock.Step(5 * time.Minute) {
				e.reconcile()
				assert.Empty(t, e.backupPods(), "one an hour is wanted")
			}
			e.clock.Step(11 * time.Minute)
			e.backsUp()
		})
	}
}

func TestBackupsOutliveTheirCluster(t *testing.T) {
	for policy, want := range map[postgres.RetentionPolicy]int{postgres.Retain: 1, postgres.Delete: 0} {
		t.Run(string(policy), func(t *testing.T) {
			e := newEnv(t)
			cluster := e.createBackedUp(1, policy)
			e.archives(plan.Archive{})
			e.backsUp()
			require.NoError(t, e.Delete(t.Context(), cluster))
			e.gone()
			e.simulate()
			assert.Empty(t, e.left(&corev1.PodList{}))
			assert.Len(t, e.left(&corev1.PersistentVolumeClaimList{}), want)
		})
	}
}

func TestMembersArchiveOnceBackupsAreWanted(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	before := e.pod("db-2").UID
	e.want(`{"backup":{"schedule":"@every 1h"}}`)
	archives := func(member string) bool {
		return slices.Contains(e.pod(member).Spec.Containers[0].Args, "--backup=/backup")
	}
	e.until(func(c *postgres.PostgresCluster) bool { return isWell(c) && archives("db-1") && archives("db-2") })
	assert.NotEqual(t, before, e.pod("db-2").UID)
	assert.EqualValues(t, 2, e.cluster().Status.Term)
}

// loseAll deletes all pods and disks of members.
func (e *env) loseAll(names ...string) {
	e.Helper()
	e.want(`{"paused":true}`)
	for _, name := range names {
		require.NoError(e, e.Delete(e.Context(), get(e, name, &corev1.PersistentVolumeClaim{})))
		require.NoError(e, e.Delete(e.Context(), e.pod(name)))
	}
	e.want(`{"paused":false}`)
}

func phaseIs(phase postgres.Phase) func(*postgres.PostgresCluster) bool {
	return func(c *postgres.PostgresCluster) bool { return c.Status.Phase == phase }
}

func TestTheBackupIsRestoredWhenAllDisksAreLost(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(2, postgres.Retain)
	now := e.clock.Now()
	e.archives(plan.Archive{First: now, Last: now, Until: now})
	e.ends(e.backsUp(), corev1.PodSucceeded, "")
	e.change(func() { e.agents["db-1"].report.Received = 0x180 })
	e.settle()
	e.loseAll("db-1", "db-2")
	e.until(phaseIs(postgres.Recovering))
	e.until(phaseIs(postgres.Promoting))
	args := e.pod("db-1").Spec.Containers[0].Args
	assert.Contains(t, args, "--source=/source")
	e.backsUp() // at once
	e.settle()
	assert.NotContains(t, e.pod("db-2").Spec.Containers[0].Args, "--source=/source")
	assert.Contains(t, strings.Join(e.recorded(), "\n"), "db-1 has made the database of base backup base and the log up to 0/100; the log was last seen at 0/180")
}

// Somebody has taken the label and the owner from a disk. To the operator, the member is gone.
func TestTheBackupIsNotRestoredWhileADiskIsLeft(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(2, postgres.Retain)
	now := e.clock.Now()
	e.archives(plan.Archive{First: now, Last: now, Until: now})
	e.ends(e.backsUp(), corev1.PodSucceeded, "")
	e.want(`{"paused":true}`)
	owners := get(e, "db-2", &corev1.PersistentVolumeClaim{}).OwnerReferences
	e.patch(&corev1.PersistentVolumeClaim{}, "db-2", `{"metadata":{"labels":null,"ownerReferences":null}}`)
	require.NoError(t, e.Delete(t.Context(), e.pod("db-2")))
	e.loseAll("db-1")
	e.until(phaseIs(postgres.Unsafe))
	for range 20 {
		e.simulate()
		e.reconcile()
	}
	s := e.cluster().Status
	assert.Equal(t, postgres.Unsafe, s.Phase)
	assert.Contains(t, meta.FindStatusCondition(s.Conditions, postgres.Available).Message, "(db-2)")

	disk := get(e, "db-2", &corev1.PersistentVolumeClaim{})
	disk.OwnerReferences = owners // the label comes back by itself
	require.NoError(t, e.Update(t.Context(), disk))
	e.settle()
	assert.Equal(t, "db-2", e.cluster().Status.Primary)
}

func TestAClusterIsMadeOfTheBackupOfAnother(t *testing.T) {
	e := newEnv(t)
	cluster := &postgres.PostgresCluster{ObjectMeta: e.meta("db"), Spec: postgres.PostgresClusterSpec{Size: 2, RestoreFrom: &postgres.RestoreFrom{Cluster: "other"}}}
	require.NoError(t, e.Create(t.Context(), cluster))
	e.until(func(c *postgres.PostgresCluster) bool {
		accepted := meta.FindStatusCondition(c.Status.Conditions, postgres.Accepted)
		return accepted != nil && accepted.Reason == "NoBackups"
	})
	other := &postgres.PostgresCluster{ObjectMeta: e.meta("other"), Spec: postgres.PostgresClusterSpec{Backup: &postgres.Backup{}}}
	require.NoError(t, e.Create(t.Context(), newBackupDisk(other)))
	e.until(phaseIs(postgres.Promoting))
	pod := e.pod("db-1")
	assert.Contains(t, pod.Spec.Containers[0].Args, "--source=/source")
	assert.Equal(t, "other-backup", pod.Spec.Volumes[len(pod.Spec.Volumes)-1].PersistentVolumeClaim.ClaimName)
	e.settle()
}

// The schema refuses both, but may have come later than they.
func TestWhatTheSchemaWouldRefuseIsReported(t *testing.T) {
	r := &Reconciler{}
	c := cluster(func(s *postgres.PostgresClusterSpec) { s.Storage = resource.MustParse("-1Gi") })
	_, found, err := r.readBackupDisk(t.Context(), c, "a/b")
	require.NoError(t, err)
	assert.False(t, found)
	o := plan.Observed{Cluster: c}
	assert.Equal(t, plan.None, plan.Cluster(o).Action)
	o.Describe(&c.Status)
	assert.Equal(t, "InvalidStorage", meta.FindStatusCondition(c.Status.Conditions, postgres.Accepted).Reason)
}

// It stays until no pod has it, and a pod that is made meanwhile with it would never start.
func TestADiskOfBackupsThatIsDeletedIsMadeAgain(t *testing.T) {
	e := newEnv(t)
	e.createBackedUp(2, postgres.Retain)
	disk := get(e, "db-backup", &corev1.PersistentVolumeClaim{})
	require.NoError(t, e.Delete(t.Context(), disk))
	last := e.pod("db-2")
	require.NoError(t, e.Delete(t.Context(), last))
	e.until(func(*postgres.PostgresCluster) bool {
		var pod corev1.Pod
		return e.Get(t.Context(), client.ObjectKeyFromObject(last), &pod) == nil && pod.UID != last.UID
	})
	e.settle()
	assert.False(t, e.mounts("db-2"))
	assert.True(t, e.mounts("db-1"), "nobody takes it from one that archives to it")
	assert.Equal(t, disk.UID, get(e, "db-backup", &corev1.PersistentVolumeClaim{}).UID)

	require.NoError(t, e.Delete(t.Context(), e.pod("db-1")))
	e.until(func(*postgres.PostgresCluster) bool {
		var another corev1.PersistentVolumeClaim
		err := e.Get(t.Context(), client.ObjectKeyFromObject(disk), &another)
		return err == nil && another.UID != disk.UID
	})
	e.settle()
	assert.True(t, e.mounts("db-1") && e.mounts("db-2"), "each archives to the new one")
}
