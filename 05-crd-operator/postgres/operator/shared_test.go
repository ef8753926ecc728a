package operator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// drift is what somebody does to what members share, which the operator has to undo.
var drift = map[string]struct {
	object client.Object
	name   string
	patch  string
}{
	"a Service leads elsewhere":          {&corev1.Service{}, "db", `{"spec":{"selector":{"` + plan.RoleLabel + `":"standby"}}}`},
	"a Service has another port":         {&corev1.Service{}, "db-ro", `{"spec":{"ports":[{"name":"postgres","port":5433}]}}`},
	"a Service has lost its label":       {&corev1.Service{}, "db", `{"metadata":{"labels":null}}`},
	"an account has lost its label":      {&corev1.ServiceAccount{}, "db-member", `{"metadata":{"labels":null}}`},
	"a Role allows less":                 {&rbacv1.Role{}, "db-member", `{"rules":null}`},
	"a Role has lost its label":          {&rbacv1.Role{}, "db-member", `{"metadata":{"labels":null}}`},
	"a RoleBinding is somebody else's":   {&rbacv1.RoleBinding{}, "db-member", `{"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"other"}]}`},
	"a RoleBinding has lost its labels":  {&rbacv1.RoleBinding{}, "db-member", `{"metadata":{"labels":null}}`},
	"a ConfigMap has lost its label":     {&corev1.ConfigMap{}, "db-ca", `{"metadata":{"labels":null}}`},
	"somebody adds a CA":                 {&corev1.ConfigMap{}, "db-ca", `{"data":{"other.crt":"theirs"}}`},
	"a NetworkPolicy has lost its label": {&networkingv1.NetworkPolicy{}, "db-member", `{"metadata":{"labels":null}}`},
	"a NetworkPolicy lets nobody in":     {&networkingv1.NetworkPolicy{}, "db-member", `{"spec":{"ingress":null}}`},
	"a budget has lost its label":        {&policyv1.PodDisruptionBudget{}, "db-member", `{"metadata":{"labels":null}}`},
	"a budget lets nobody go":            {&policyv1.PodDisruptionBudget{}, "db-member", `{"spec":{"minAvailable":9}}`},
	"a label has another value":          {&corev1.ServiceAccount{}, "db-member", `{"metadata":{"labels":{"` + plan.SelectorLabel + `":"other"}}}`},
}

// content is what a drift may change.
func content(e *env, object client.Object, name string) any {
	e.Helper()
	switch object := get(e, name, object.DeepCopyObject().(client.Object)).(type) {
	case *corev1.Service:
		return []any{object.Labels, object.Spec.Selector, object.Spec.Ports[0].Port, object.Spec.Ports[0].TargetPort}
	case *corev1.ConfigMap:
		return []any{object.Labels, object.Data}
	case *networkingv1.NetworkPolicy:
		return []any{object.Labels, object.Spec}
	case *policyv1.PodDisruptionBudget:
		return []any{object.Labels, object.Spec}
	case *rbacv1.Role:
		return []any{object.Labels, object.Rules}
	case *rbacv1.RoleBinding:
		return []any{object.Labels, object.Subjects}
	default:
		return object.GetLabels()
	}
}

func TestWhatMembersShareIsRestored(t *testing.T) {
	e := newEnv(t)
	e.create(1)
	e.settle()
	for name, tc := range drift {
		t.Run(name, func(t *testing.T) {
			before := content(e, tc.object, tc.name)
			e.patch(tc.object.DeepCopyObject().(client.Object), tc.name, tc.patch)
			require.NotEqual(t, before, content(e, tc.object, tc.name))
			e.reconcile()
			assert.Equal(t, before, content(e, tc.object, tc.name))
		})
	}
	e.requests.Take()
	e.reconcile()
	for _, request := range e.requests.Take() {
		assert.NotContains(t, []string{"create", "update", "patch", "delete"}, strings.Fields(request)[0], "nothing is left to do")
	}
}

func TestAServiceOfSomebodyElseIsLeftAlone(t *testing.T) {
	e := newEnv(t)
	foreign := &corev1.Service{ObjectMeta: e.meta("db"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	require.NoError(t, e.Create(t.Context(), foreign))
	e.create(2)
	e.settle()
	assert.True(t, slices.Contains(e.recorded(), "Warning Failed restoring the Service db: the Service db belongs to somebody else; delete it, or give the cluster another name"))
	assert.Equal(t, foreign.ResourceVersion, get(e, "db", &corev1.Service{}).ResourceVersion)
	e.reconcile()
	assert.Equal(t, "ForeignObjects objects that are not this cluster's have names of it: Service db; if one of them is a member's and has lost its owner, give it back; or else delete it, or give the cluster another name", e.refusal())
	e.kill("db-1")
	e.until(isWell) // it fails over all the same

	require.NoError(t, e.Delete(t.Context(), foreign))
	e.settle()
	assert.Equal(t, int32(5432), get(e, "db", &corev1.Service{}).Spec.Ports[0].Port)
	e.reconcile()
	assert.Empty(t, e.refusal())
}

// Nothing in the lab acts on a NetworkPolicy, so only the object is tested.
func TestWhoMayReachMembers(t *testing.T) {
	pods := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}
	operator := networkingv1.NetworkPolicyPeer{
		NamespaceSelector: &metav1.LabelSelector{},
		PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": "postgres-operator"}},
	}
	outside := networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}
	for name, tc := range map[string]struct {
		options          Options
		postgres, status []networkingv1.NetworkPolicyPeer
	}{
		"all are pods":                 {Options{ServiceType: corev1.ServiceTypeClusterIP}, pods, []networkingv1.NetworkPolicyPeer{operator}},
		"clients use a node port":      {Options{ServiceType: corev1.ServiceTypeNodePort}, nil, []networkingv1.NetworkPolicyPeer{operator}},
		"the operator is not in a pod": {Options{OperatorNetwork: "192.0.2.0/24"}, pods, []networkingv1.NetworkPolicyPeer{operator, outside}},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &networkingv1.NetworkPolicy{}
			(&Reconciler{Options: tc.options}).setNetworkPolicy(policy, cluster(func(*postgres.PostgresClusterSpec) {}))
			tcp, postgres, status := corev1.ProtocolTCP, intstr.FromString("postgres"), intstr.FromString("status")
			assert.Equal(t, networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{plan.SelectorLabel: "db"}},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
				Ingress: []networkingv1.NetworkPolicyIngressRule{
					{From: tc.postgres, Ports: []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: &postgres}}},
					{From: tc.status, Ports: []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: &status}}},
				},
			}, policy.Spec)
		})
	}
}

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
