package operator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// An operator that was slow, or is not the only one, acts on what is no more.
func TestAStaleDecisionIsRefused(t *testing.T) {
	changed := func(e *env) { e.want(`{"size":3}`) }
	anotherPod := func(e *env) {
		e.kill("db-2")
		require.NoError(e, e.operator.removePod(e.Context(), e.observe(), plan.Decision{Member: "db-2", UID: e.pod("db-2").UID}))
		require.NoError(e, e.operator.createMember(e.Context(), e.observe(), "db-2"))
	}
	for name, tc := range map[string]struct {
		meanwhile func(*env)
		decision  plan.Decision // of a cluster that is well; its UID is that of db-2's pod
	}{
		"a status, if the cluster has changed":         {changed, plan.Decision{Action: plan.WriteStatus}},
		"the end of a disk, if the cluster has":        {changed, plan.Decision{Action: plan.DeleteDisk, Member: "db-2"}},
		"the end of the finalizer, if the cluster has": {changed, plan.Decision{Action: plan.RemoveFinalizer}},
		"the end of another pod":                       {anotherPod, plan.Decision{Action: plan.DeletePod, Member: "db-2"}},
		"that another pod may go":                      {anotherPod, plan.Decision{Action: plan.RemovePod, Member: "db-2"}},
		"the role of another pod":                      {anotherPod, plan.Decision{Action: plan.SetRole, Member: "db-2", Role: plan.Primary}},
		"the end of a Lease that was renewed": {func(e *env) {
			e.patch(&coordinationv1.Lease{}, "db", `{"spec":{"leaseTransitions":7}}`)
		}, plan.Decision{Action: plan.FreeLease}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.create(2)
			e.settle()
			o := e.observe()
			tc.decision.UID = e.pod("db-2").UID
			if tc.decision.Action == plan.FreeLease {
				tc.decision.UID = o.Lease.Holder
			}
			tc.decision.Status = &o.Cluster.Status
			tc.meanwhile(e)
			before := e.world()
			err := e.operator.act(t.Context(), o, tc.decision)
			if err == nil {
				err = e.operator.describe(t.Context(), o, tc.decision)
			}
			assert.True(t, apierrors.IsConflict(err), "%v", err)
			assert.Equal(t, before, e.world())
		})
	}
}

// The Lease has another holder than the one that the operator means.
func TestTheLeaseOfAnotherIsNotFreed(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	e.change(func() { e.agents["db-1"].frozen = true }) // it renews the Lease no more, so only the holder is wrong
	o := e.observe()
	err := e.operator.act(t.Context(), o, plan.Decision{Action: plan.FreeLease, UID: "another"})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	assert.Equal(t, string(o.Lease.Holder), e.holder())
}

// A disk of the same name that was made since is another one.
func TestAnotherDiskIsNotDeleted(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	o := e.observe()
	o.disks["db-1"].UID = "another"
	err := e.operator.act(t.Context(), o, plan.Decision{Action: plan.DeleteDisk, Member: "db-1"})
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	assert.Nil(t, get(e, "db-1", &corev1.PersistentVolumeClaim{}).DeletionTimestamp)
}

// An action may be decided twice, for its effect is seen late.
func TestAnActionCanBeRepeated(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.kill("db-2")
	o, gone := e.observe(), plan.Decision{Action: plan.RemovePod, Member: "db-2", UID: e.pod("db-2").UID}
	for range 2 {
		require.NoError(t, e.operator.act(t.Context(), o, gone))
	}
	o = e.observe()
	for range 2 {
		require.NoError(t, e.operator.act(t.Context(), o, plan.Decision{Action: plan.DeleteDisk, Member: "db-2"}))
	}
}

// An operator that is killed after its first write is followed by one that begins with the second.
func TestAPodThatIsLetGoIsOnlyDeleted(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	e.kill("db-1")
	pod := e.pod("db-1")
	e.patch(pod.DeepCopy(), "db-1", `{"metadata":{"finalizers":null}}`)
	o := e.observe()
	e.requests.Take()
	require.NoError(t, e.operator.act(t.Context(), o, plan.Decision{Action: plan.RemovePod, Member: "db-1", UID: pod.UID}))
	assert.Equal(t, []string{"delete pods"}, e.requests.Take())
}

// Of the finalizers of a pod, one is ours.
func TestOthersFinalizersStay(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	e.patch(&corev1.Pod{}, "db-1", `{"metadata":{"finalizers":["example.com/other","`+finalizer+`"]}}`)
	e.kill("db-1")
	require.NoError(t, e.operator.act(t.Context(), e.observe(), plan.Decision{Action: plan.RemovePod, Member: "db-1", UID: e.pod("db-1").UID}))
	assert.Equal(t, []string{"example.com/other"}, e.pod("db-1").Finalizers)
	e.patch(&corev1.Pod{}, "db-1", `{"metadata":{"finalizers":null}}`)
	e.until(isWell)
}

// world is the versions of all that an action could change.
func (e *env) world() map[string]string {
	e.Helper()
	versions := map[string]string{"cluster": e.cluster().ResourceVersion, "lease": get(e, "db", &coordinationv1.Lease{}).ResourceVersion}
	var pods corev1.PodList
	var disks corev1.PersistentVolumeClaimList
	require.NoError(e, e.List(e.Context(), &pods, client.InNamespace(e.namespace)))
	require.NoError(e, e.List(e.Context(), &disks, client.InNamespace(e.namespace)))
	for _, pod := range pods.Items {
		versions["pod "+pod.Name] = pod.ResourceVersion
	}
	for _, disk := range disks.Items {
		versions["disk "+disk.Name] = disk.ResourceVersion
	}
	return versions
}

// An agent that knows of an older term only does not take it.
func TestALeaseIsFreedForATerm(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.change(func() { e.agents["db-1"].frozen = true }) // it renews the Lease no more
	o := e.observe()
	o.Cluster.Status.Term = 5
	require.NoError(t, e.operator.freeLease(t.Context(), o, o.Lease.Holder))
	lease := get(e, "db", &coordinationv1.Lease{})
	assert.Nil(t, lease.Spec.HolderIdentity)
	assert.Equal(t, new(int32(5)), lease.Spec.LeaseTransitions)
}
