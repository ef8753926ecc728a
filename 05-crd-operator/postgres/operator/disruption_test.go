package operator

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// allow plays the controller that counts the pods of a budget.
func (e *env) allow(disruptions int32) {
	e.Helper()
	budget := get(e, "db-member", &policyv1.PodDisruptionBudget{})
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation, DisruptionsAllowed: disruptions}
	require.NoError(e, e.Status().Update(e.Context(), budget))
}

// evict is what a drain does to each pod of a node.
func (e *env) evict(name string) error {
	e.Helper()
	return e.SubResource("eviction").Create(e.Context(), e.pod(name), &policyv1.Eviction{ObjectMeta: e.meta(name)})
}

// isReady is what a kubelet reports of a pod that is.
func (e *env) isReady(name string) {
	e.Helper()
	pod := e.pod(name)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	require.NoError(e, e.Status().Update(e.Context(), pod))
}

// The primary goes first. Its standby takes over at once, and may not go before it is back.
func TestADrainTakesOneMemberAtATime(t *testing.T) {
	e := newEnv(t)
	e.create(2)
	e.settle()
	for _, name := range []string{"db-1", "db-2"} { // for a kubelet that reports no conditions
		e.isReady(name)
	}
	e.allow(1)
	began, old := e.clock.Now(), e.pod("db-1").UID
	require.NoError(t, e.evict("db-1"))
	e.allow(0)
	assert.True(t, apierrors.IsTooManyRequests(e.evict("db-2")), "the other one has to stay")
	statuses := e.until(func(c *postgres.PostgresCluster) bool {
		return c.Status.Phase == postgres.Running && c.Status.Term == 2
	})
	assert.Equal(t, []string{
		`Electing, term 2, primary "", standby "db-2", synced [db-1 db-2]`,
		`Promoting, term 2, primary "db-2", standby "db-1", synced [db-2]`,
		`Running, term 2, primary "db-2", standby "db-1", synced [db-2]`,
	}, statuses)
	assert.Less(t, e.clock.Now().Sub(began), 2*time.Second, "nobody waited for the Lease")
	e.until(isWell)
	assert.NotEqual(t, old, e.pod("db-1").UID)
	assert.Empty(t, e.left(&policyv1.PodDisruptionBudgetList{})[1:], "one budget for all members")
}

// The only member may go, for nobody else could let a drain end.
func TestAllButOneMemberHaveToStay(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	for _, size := range []int{1, 3, 2} {
		e.want(fmt.Sprintf(`{"size":%d}`, size))
		e.settle()
		budget := get(e, "db-member", &policyv1.PodDisruptionBudget{})
		assert.Equal(t, size-1, budget.Spec.MinAvailable.IntValue())
		assert.Nil(t, budget.Spec.MaxUnavailable)
		assert.Equal(t, map[string]string{plan.SelectorLabel: "db"}, budget.Spec.Selector.MatchLabels)
		assert.Equal(t, policyv1.AlwaysAllow, *budget.Spec.UnhealthyPodEvictionPolicy)
	}
}
