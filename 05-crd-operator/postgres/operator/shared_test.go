package operator

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
