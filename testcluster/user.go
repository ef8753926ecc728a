package testcluster

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// UserKubeconfig returns the path of a kubeconfig for a new user without any rights.
func (c *Cluster) UserKubeconfig(t testing.TB, name string) string {
	t.Helper()
	content, err := c.addUser(t, name).KubeConfig()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func (c *Cluster) addUser(t testing.TB, name string) *envtest.AuthenticatedUser {
	t.Helper()
	c.adding.Lock() // envtest adds one user at a time
	defer c.adding.Unlock()
	user, err := c.AddUser(envtest.User{Name: name}, nil)
	require.NoError(t, err)
	return user
}

// Rules reads the rules of the ClusterRole that a file holds.
func Rules(t testing.TB, path string) []rbacv1.PolicyRule {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.UnmarshalStrict(content, &role))
	require.Equal(t, "ClusterRole", role.Kind, "in %s", path)
	return role.Rules
}

// User returns the configuration of a new user who may do what the rules allow, in
// all namespaces, and nothing else. The rate limit is the default of client-go, or
// what the operator makes of it.
func (c *Cluster) User(t testing.TB, name string, rules []rbacv1.PolicyRule) *rest.Config {
	t.Helper()
	meta := metav1.ObjectMeta{Name: name}
	_, err := c.Client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.Client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	config := c.addUser(t, name).Config()

	// The authorizer hears of a role a moment after it was made.
	client := kubernetes.NewForConfigOrDie(config)
	for _, rule := range rules {
		require.Eventually(t, func() bool { return may(t.Context(), client, rule) }, TestTimeout, 20*time.Millisecond, "the rule %v", rule)
	}
	config.QPS, config.Burst = 0, 0
	return config
}

func may(ctx context.Context, client kubernetes.Interface, rule rbacv1.PolicyRule) bool {
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	name, _, _ := strings.Cut(strings.Join(rule.ResourceNames, " "), " ")
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Verb: rule.Verbs[0], Name: name,
		}},
	}, metav1.CreateOptions{})
	return err == nil && review.Status.Allowed
}
