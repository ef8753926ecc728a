package access

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

func TestCheck(t *testing.T) {
	c := testcluster.Start(t)
	pods := Read{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("pods"), Labels: "app=bell"}
	require.NoError(t, Check(t.Context(), c.Config, "", pods))
	require.EqualError(t, Check(t.Context(), c.Config, "", pods, Read{GroupVersionResource: cnat.SchemeGroupVersion.WithResource("ats")}),
		"the cluster does not know ats; create their CRD, which is in config/crd")

	for may, mayNot := range map[string]string{"list": "watch", "watch": "list"} {
		user := c.User(t, "may-"+may, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{may}}})
		require.ErrorContains(t, Check(t.Context(), user, "default", pods), `User "may-`+may+`" cannot `+mayNot+` resource "pods"`)
	}
}
