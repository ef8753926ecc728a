package permissions

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

func TestWithARealServer(t *testing.T) {
	s := startServer(t)
	for name, run := range map[string]func(*testing.T, *server){
		"the report names what the role of stage 5 has too much": halfOfTheRole,
		"names, namespaces and subresources":                     namesAndNamespaces,
		"an apply may be refused for what it makes":              applyWithoutCreate,
		"everybody may what the server lets everybody do":        everybodyMay,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, s)
		})
	}
}

// halfOfTheRole uses the operator's role of stage 5, but not all of it.
func halfOfTheRole(t *testing.T, s *server) {
	role, err := os.ReadFile("../../../05-crd-operator/config/rbac/controllerruntime.yaml")
	require.NoError(t, err)
	a := s.account(t, "half", string(role)+binding("", "controllerruntime", `subjects: [{kind: ServiceAccount, namespace: NS, name: operator}]`))

	a.asks(http.StatusOK, "GET", "/version", "")
	a.asks(http.StatusOK, "GET", "/apis/cnat.programming-kubernetes.info/v1alpha1", "")
	a.asks(http.StatusCreated, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec": {"nonResourceAttributes": {"verb": "get", "path": "/"}}}`)
	a.asks(http.StatusOK, "GET", "/apis/cnat.programming-kubernetes.info/v1alpha1/ats", "")
	a.asks(http.StatusOK, "GET", "/apis/cnat.programming-kubernetes.info/v1alpha1/ats?watch=1", "")
	a.asks(http.StatusCreated, "POST", "/api/v1/namespaces/NS/pods", `{"metadata": {"name": "kettle-pod"}, "spec": {"containers": [{"name": "c", "image": "busybox"}]}}`)
	a.asks(http.StatusOK, "GET", "/api/v1/namespaces/NS/pods/kettle-pod", "")
	a.asks(http.StatusForbidden, "GET", "/api/v1/namespaces/NS/secrets", "")
	a.asks(http.StatusForbidden, "GET", "/metrics", "")

	const at = "ats.cnat.programming-kubernetes.info"
	a.reports(
		"used list "+at, "used watch "+at, "used create pods", "used get pods",
		"not used get "+at, "not used update "+at+"/status", "not used list pods", "not used patch pods", "not used watch pods",
		"not used create events.events.k8s.io",
		"missing list secrets", "missing get /metrics", "3 by everybody",
	)
}

// namesAndNamespaces has a rule with a name, which only some requests ask with.
func namesAndNamespaces(t *testing.T, s *server) {
	a := s.account(t, "names", object("Role", "NS", "local", `rules:
- {verbs: [create, get, list, watch, patch], apiGroups: [""], resources: [configmaps], resourceNames: [settings]}
- {verbs: [get], apiGroups: [""], resources: [pods/log]}`)+binding("NS", "local", `subjects: [{kind: ServiceAccount, name: operator}]`))

	const configMap = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}`
	a.asks(http.StatusForbidden, "POST", "/api/v1/namespaces/NS/configmaps", configMap)
	a.asks(http.StatusCreated, "PATCH", "/api/v1/namespaces/NS/configmaps/settings?fieldManager=test", configMap)
	a.asks(http.StatusForbidden, "GET", "/api/v1/namespaces/NS/configmaps", "")
	a.asks(http.StatusOK, "GET", "/api/v1/namespaces/NS/configmaps?fieldSelector=metadata.name%3Dsettings", "")
	a.asks(http.StatusOK, "GET", "/api/v1/namespaces/NS/configmaps?watch=true&fieldSelector=metadata.name%3Dsettings", "")
	a.asks(http.StatusForbidden, "GET", "/api/v1/namespaces/default/configmaps/settings", "")
	a.asks(http.StatusNotFound, "GET", "/api/v1/namespaces/NS/pods/none/log", "")
	a.asks(http.StatusForbidden, "GET", "/api/v1/namespaces/NS/pods/none", "")

	a.reports(
		`used create configmaps "settings"`, `used list configmaps "settings"`, `used watch configmaps "settings"`,
		`used patch configmaps "settings"`, "used get pods/log",
		`not used get configmaps "settings"`,
		"missing create configmaps", "missing list configmaps", "missing get configmaps settings", "missing get pods none",
	)
}

func applyWithoutCreate(t *testing.T, s *server) {
	a := s.account(t, "apply", object("Role", "NS", "local", `rules: [{verbs: [patch], apiGroups: [""], resources: [configmaps]}]`)+
		binding("NS", "local", `subjects: [{kind: ServiceAccount, name: operator}]`))
	a.asks(http.StatusForbidden, "PATCH", "/api/v1/namespaces/NS/configmaps/settings?fieldManager=test", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}`)
	a.reports("used patch configmaps", "missing create configmaps settings")
}

// everybodyMay compares the list in everybody.go with the server's own.
func everybodyMay(t *testing.T, s *server) {
	bindings, err := s.Client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{LabelSelector: ofTheCluster})
	require.NoError(t, err)
	var theirs, ours []rbacv1.PolicyRule
	for _, b := range bindings.Items {
		b.Labels = nil // with it, none binds anybody
		if binds(rbacv1.RoleBinding{ObjectMeta: b.ObjectMeta, Subjects: b.Subjects}, operator) {
			role, err := s.Client.RbacV1().ClusterRoles().Get(t.Context(), b.RoleRef.Name, metav1.GetOptions{})
			require.NoError(t, err)
			theirs = append(theirs, role.Rules...)
		}
	}
	for _, g := range everybody {
		ours = append(ours, g.Rule)
	}
	_, lacking := validation.Covers(ours, theirs)
	assert.Empty(t, lacking, "everybody.go lacks these")
	_, more := validation.Covers(theirs, ours)
	assert.Empty(t, more, "everybody.go has these too much")
}
