package operator

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// seeded are the statuses of a cluster of three from nothing.
var seeded = []string{
	`Seeding, term 1, primary "db-1", standby "", synced []`,
	`Promoting, term 1, primary "db-1", standby "", synced [db-1]`,
	`Joining, term 1, primary "db-1", standby "", synced [db-1]`,
	`Joining, term 1, primary "db-1", standby "db-2", synced [db-1]`,
	`Joining, term 1, primary "db-1", standby "db-2", synced [db-1 db-2]`,
	`Running, term 1, primary "db-1", standby "db-2", synced [db-1 db-2]`,
}

func TestAClusterIsSeededAndGrows(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	assert.Equal(t, seeded, e.settle())
	for name, role := range map[string]plan.Role{"db-1": plan.Primary, "db-2": plan.Standby, "db-3": plan.Standby} {
		assert.Equal(t, string(role), e.pod(name).Labels[plan.RoleLabel])
		get(e, name, &corev1.PersistentVolumeClaim{})
	}
	assert.True(t, controllerutil.ContainsFinalizer(e.cluster(), finalizer))
}

func TestAnOperatorThatStartsAgainForgetsNothing(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	statuses := e.until(func(c *postgres.PostgresCluster) bool { e.restart(); return isWell(c) })
	assert.Equal(t, seeded, statuses)
	e.kill("db-1")
	statuses = e.until(func(c *postgres.PostgresCluster) bool { e.restart(); return isWell(c) && c.Status.Term == 2 })
	assert.Equal(t, failover, statuses[:3])
}

// failover are the three writes of one.
var failover = []string{
	`Electing, term 2, primary "", standby "db-2", synced [db-1 db-2]`,
	`Promoting, term 2, primary "db-2", standby "db-3", synced [db-2]`,
	`Running, term 2, primary "db-2", standby "db-3", synced [db-2]`,
}

func TestAPrimaryThatEndsIsReplaced(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	e.settle()
	began := e.clock.Now()
	e.kill("db-1")
	statuses := e.until(func(c *postgres.PostgresCluster) bool {
		return c.Status.Phase == postgres.Running && c.Status.Term == 2
	})
	assert.Equal(t, failover, statuses)
	assert.Less(t, e.clock.Now().Sub(began), 2*time.Second, "nobody waited for the Lease")
	e.until(isWell)
	assert.Equal(t, string(plan.Standby), e.pod("db-1").Labels[plan.RoleLabel])
}

// A pod that is deleted by force is kept by its finalizer until it has ended: until then, what
// runs in it may take writes.
func TestAPodThatIsDeletedByForceStaysUntilItHasEnded(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	old := e.pod("db-1")
	e.change(func() { e.agents["db-1"].frozen = true })
	require.NoError(t, e.Delete(t.Context(), e.pod("db-1"), client.GracePeriodSeconds(0)))
	for range 20 { // without a kubelet
		e.reconcile()
	}
	assert.Equal(t, old.UID, e.pod("db-1").UID)
	assert.Equal(t, postgres.Electing, e.cluster().Status.Phase)
	assert.Equal(t, string(old.UID), e.holder())
	e.until(isWell)
	assert.NotEqual(t, old.UID, e.pod("db-1").UID)
}

// Between the scheduler and the kubelet, somebody else has taken what the node had left.
func TestAPodThatTheKubeletRejectsIsMadeAgain(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	for e.reconcile().RequeueAfter == time.Millisecond { // until it waits for its first pod
	}
	rejected := e.pod("db-1").UID
	e.reject("db-1")
	e.until(isWell)
	assert.NotEqual(t, rejected, e.pod("db-1").UID)
}

// The agent is frozen and so is its kubelet: nobody reports the end of the last primary.
func TestTheLeaseOfASilentPodIsFreedWhenItHasRunOut(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.reconcile() // the agent renews it
	renewed := e.clock.Now()
	e.change(func() { e.agents["db-1"].frozen = true })
	for e.holder() == string(e.pod("db-1").UID) {
		e.reconcile()
		e.clock.Step(500 * time.Millisecond)
		require.Less(t, e.clock.Now().Sub(renewed), time.Minute)
	}
	assert.GreaterOrEqual(t, e.clock.Now().Sub(renewed), plan.LeaseDuration)
	assert.NotNil(t, e.pod("db-1").DeletionTimestamp, "the kubelet was asked to kill it")
	assert.False(t, ended(e.pod("db-1")))
}

// Without the Lease, nobody knows whether the last primary has stopped.
func TestALeaseThatIsDeletedIsNotFree(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	deleted := e.clock.Now()
	require.NoError(t, e.Delete(t.Context(), &coordinationv1.Lease{ObjectMeta: e.meta("db")}))
	e.change(func() { e.agents["db-1"].frozen = true })
	e.until(func(c *postgres.PostgresCluster) bool {
		e.clock.Step(500 * time.Millisecond)
		return c.Status.Phase == postgres.Promoting
	})
	assert.GreaterOrEqual(t, e.clock.Now().Sub(deleted), plan.LeaseDuration)
	e.until(isWell)
}

// Another operator takes over in an election. Its clock is wrong, and it says the same as any other.
func TestAnElectionIsNotMeasuredByTheClockOfAnotherOperator(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"an hour behind": -time.Hour, "an hour ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.create(2)
			e.settle()
			e.change(func() { e.agents["db-2"].frozen = true })
			e.kill("db-1")
			for e.cluster().Status.Phase != postgres.Electing {
				e.reconcile()
			}
			e.clock.Step(wrong)
			e.restart()
			begun := e.clock.Now()
			for e.cluster().Status.Phase == postgres.Electing { // without a kubelet, so nobody comes back
				e.reconcile()
				require.Less(t, e.clock.Now().Sub(begun), time.Minute, "nobody says that it is unsafe")
			}
			assert.Equal(t, postgres.Unsafe, e.cluster().Status.Phase)
			assert.Greater(t, e.clock.Now().Sub(begun), 10*time.Second, "members had time to answer")
		})
	}
}

func (e *env) holder() string {
	e.Helper()
	return ptr.Deref(get(e, "db", &coordinationv1.Lease{}).Spec.HolderIdentity, "")
}

func TestAClusterShrinks(t *testing.T) {
	e := newEnv(t)
	e.create(3)
	e.settle()
	e.want(`{"size":1}`)
	e.settle()
	var disks corev1.PersistentVolumeClaimList
	require.NoError(t, e.List(t.Context(), &disks, client.InNamespace(e.namespace)))
	require.Len(t, disks.Items, 1)
	assert.Equal(t, "db-1", disks.Items[0].Name)
}

func TestAnotherPrimaryIsWanted(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.want(`{"primary":"db-2"}`)
	e.until(func(c *postgres.PostgresCluster) bool { return isWell(c) && c.Status.Primary == "db-2" })
}

// It may be there later, when the cluster grows.
func TestAPrimaryThatIsNobodyIsReported(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	e.recorded()
	e.want(`{"primary":"db-3"}`)
	e.reconcile()
	e.reconcile()
	const why = "NoSuchMember spec.primary: there is no member db-3, only db-1, db-2; name one of them, or leave it out"
	assert.Equal(t, why, e.condition(postgres.Accepted))
	assert.Equal(t, []string{"Warning " + why}, e.recorded(), "once")
	e.want(`{"size":3}`)
	e.until(func(c *postgres.PostgresCluster) bool { return isWell(c) && c.Status.Primary == "db-3" })
	assert.Equal(t, "Valid ", e.condition(postgres.Accepted))
}

// The server judges the labels only when a pod is to be made. People learn of it before that.
func TestLabelsThatNoNodeCanHave(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	for _, selector := range []string{
		`{}`, `{"disk":""}`, `{"example.com/disk":"1-a","a_b.c":"A.b"}`, `{"disk":"-"}`, `{"disk":"very fast"}`, `{"the disk":"fast"}`,
		`{"a/b/c":""}`, `{"/c":""}`, `{"":""}`, `{"disk":"` + strings.Repeat("x", 63) + `"}`, `{"disk":"` + strings.Repeat("x", 64) + `"}`,
	} {
		e.want(`{"nodeSelector":null}`)
		e.want(`{"nodeSelector":` + selector + `}`)
		pod := e.operator.newPod(e.cluster(), "db-2")
		server := e.Create(t.Context(), pod, client.DryRunAll)
		e.reconcile()
		accepted := meta.FindStatusCondition(e.cluster().Status.Conditions, postgres.Accepted)
		if server == nil {
			assert.Equal(t, metav1.ConditionTrue, accepted.Status, "%s: %s", selector, accepted.Message)
			continue
		}
		assert.True(t, apierrors.IsInvalid(server), "%v", server)
		assert.Equal(t, "InvalidNodeSelector", accepted.Reason, "%s: %v", selector, server)
		assert.Contains(t, accepted.Message, "spec.nodeSelector: no node has a label ")
		assert.EqualValues(t, 1, e.cluster().Status.Replicas, "the pod that is there goes on")
	}
}

// What it cannot do is no reason to leave the rest.
func TestAMemberThatCannotBeMadeStopsNobodyElse(t *testing.T) {
	e := newEnv(t)
	foreign := &corev1.Pod{ObjectMeta: e.meta("db-3"), Spec: corev1.PodSpec{Containers: restricted("pause")}}
	require.NoError(t, e.Create(t.Context(), foreign))
	e.create(3)
	e.refused("ForeignObjects objects that are not this cluster's have names of it: Pod db-3;")
	e.until(func(c *postgres.PostgresCluster) bool { return len(c.Status.Synced) == 2 })
	e.requests.Take()
	e.reconcile()
	assert.NotContains(t, e.requests.Take(), "create pods", "it is not tried again and again")
	e.kill("db-1")
	e.until(func(c *postgres.PostgresCluster) bool {
		return c.Status.Term == 2 && plan.Serving(c.Status.Phase) && len(c.Status.Synced) == 2
	})
	assert.Equal(t, foreign.UID, e.pod("db-3").UID)

	require.NoError(t, e.Delete(t.Context(), e.pod("db-3"), client.GracePeriodSeconds(0)))
	e.until(isWell)
	assert.Empty(t, e.refusal())
}

func TestAPodWithOurLabelIsNotAMember(t *testing.T) {
	e := newEnv(t)
	foreign := &corev1.Pod{ObjectMeta: e.meta("db-2"), Spec: corev1.PodSpec{Containers: restricted("pause")}}
	foreign.Labels = map[string]string{plan.SelectorLabel: "db"}
	require.NoError(t, e.Create(t.Context(), foreign))
	e.create(1)
	assert.Empty(t, e.observe().Members)
	e.settle()
	assert.Equal(t, foreign.UID, e.pod("db-2").UID)
}
