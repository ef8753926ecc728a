package operator

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testport"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testrights"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// role is what the operator is shipped with.
const role = "../config/rbac/role.yaml"

// It is neither refused anything nor allowed what it does not do.
func TestTheRoleIsEnoughAndTheSmallest(t *testing.T) {
	// Not every server can send a cache what it lists as the beginning of a watch.
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	e := newEnv(t)
	foreign := &corev1.Service{ObjectMeta: e.meta("db"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	require.NoError(t, e.Create(t.Context(), foreign))
	rules := testcluster.Rules(t, role)
	requests := e.startOperator(e.server.User(t, e.namespace, rules))
	e.archives(plan.Archive{})
	cluster := &postgres.PostgresCluster{ObjectMeta: e.meta("db"), Spec: postgres.PostgresClusterSpec{Size: 2, Backup: &postgres.Backup{Schedule: "@every 1h"}}}
	require.NoError(t, e.Create(t.Context(), cluster))
	e.eventually(e.isWellIn(1))
	e.eventually(func() bool { return len(e.backupPods()) == 1 })
	e.eventually(func() bool { return slices.Contains(requests.All(), "patch events.k8s.io/events") }) // the same once more
	require.NoError(t, e.Delete(t.Context(), foreign))
	e.eventually(func() bool { return len(e.left(&corev1.ServiceList{})) == 2 })
	for name, tc := range drift {
		before := content(e, tc.object, tc.name)
		e.patch(tc.object.DeepCopyObject().(client.Object), tc.name, tc.patch)
		t.Log(name)
		e.eventually(func() bool { return assert.ObjectsAreEqual(before, content(e, tc.object, tc.name)) })
	}
	e.bind("db-2", e.class("-grows", true))
	e.want(`{"storage":"2Gi"}`)
	e.eventually(func() bool { return e.wants("db-2") == "2Gi" })
	e.patch(&corev1.Secret{}, "db-tls-1", `{"metadata":{"labels":{"`+minuteLabel+`":"1"}}}`) // as if it were old
	require.NoError(t, e.Delete(t.Context(), get(e, "db-ca", &corev1.ConfigMap{})))
	e.eventually(func() bool { return slices.Contains(requests.All(), "delete secrets") })
	e.kill("db-1")
	e.eventually(e.isWellIn(2))
	e.want(`{"size":1}`)
	e.eventually(e.isWellIn(2))
	require.NoError(t, e.Delete(t.Context(), cluster))
	e.eventually(func() bool {
		return apierrors.IsNotFound(e.Get(t.Context(), e.key(), &postgres.PostgresCluster{}))
	})
	finalizers := "update postgres.programming-kubernetes.info/postgresclusters/finalizers" // is for no request: TestOwnersAreBlocked
	assert.Equal(t, without(testrights.Granted(rules), finalizers), requests.Used())
}

// Elections and metrics need what the role has not, and the account may do no more than that.
func TestTheAccountIsEnoughAndTheSmallest(t *testing.T) {
	e := newEnv(t)
	e.install()
	o := e.options()
	o.LeaderNamespace, o.MetricsAddress = system, testport.Hold(t, "127.0.0.1")
	requests, _ := e.startOperatorWith(e.account(), o)
	token := e.tokenOf("reader")
	e.eventually(func() bool {
		code, _ := fetch(t, "https://"+o.MetricsAddress+"/metrics", token)
		return code == http.StatusForbidden // after both reviews
	})
	e.eventually(func() bool { // the event of an election comes later
		return slices.ContainsFunc(requests.All(), func(right string) bool { return strings.HasSuffix(right, "create events") })
	})
	inRole := testrights.Granted(testcluster.Rules(t, role))
	granted := testrights.Granted(e.rulesOf(system, program))
	assert.Subset(t, granted, inRole)
	assert.Equal(t, without(granted, inRole...), without(requests.Used(), inRole...))
}

// without are the rights less some.
func without(rights []string, some ...string) []string {
	return slices.DeleteFunc(rights, func(right string) bool { return slices.Contains(some, right) })
}

// rulesOf are those of all roles that a service account is bound to.
func (e *env) rulesOf(namespace, account string) (rules []rbacv1.PolicyRule) {
	e.Helper()
	rbac := e.server.Client.RbacV1()
	subject := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}
	everywhere, err := rbac.ClusterRoleBindings().List(e.Context(), metav1.ListOptions{})
	require.NoError(e, err)
	for _, b := range everywhere.Items {
		if slices.Contains(b.Subjects, subject) {
			role, err := rbac.ClusterRoles().Get(e.Context(), b.RoleRef.Name, metav1.GetOptions{})
			require.NoError(e, err)
			rules = append(rules, role.Rules...)
		}
	}
	bindings, err := rbac.RoleBindings(metav1.NamespaceAll).List(e.Context(), metav1.ListOptions{})
	require.NoError(e, err)
	for _, b := range bindings.Items {
		if slices.Contains(b.Subjects, subject) {
			role, err := rbac.Roles(b.Namespace).Get(e.Context(), b.RoleRef.Name, metav1.GetOptions{})
			require.NoError(e, err)
			rules = append(rules, role.Rules...)
		}
	}
	return rules
}

// A server may want that a client which makes an object that keeps its owner from being deleted
// may change the owner's finalizers.
func TestOwnersAreBlocked(t *testing.T) {
	server := testcluster.Start(t, "enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	e := newEnvOn(t, server, func() { installCRD(t, server) })
	rules := testcluster.Rules(t, role)
	less := slices.DeleteFunc(slices.Clone(rules), func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.Resources, "postgresclusters/finalizers")
	})
	require.Len(t, less, len(rules)-1)
	cluster := e.create(1)
	secret := func() client.Object { return &corev1.Secret{ObjectMeta: objectMeta(cluster, "db")} }
	err := e.connect(server.User(t, "less", less)).Create(t.Context(), secret())
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "blockOwnerDeletion")
	assert.NoError(t, e.connect(server.User(t, "enough", rules)).Create(t.Context(), secret()))
}
