package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// forPeople says whether the cluster adds the rules of a role to those of view, edit or admin.
func forPeople(role rbacv1.ClusterRole) bool {
	for label := range role.Labels {
		if strings.HasPrefix(label, rbacv1.GroupName+"/aggregate-to-") {
			return true
		}
	}
	return false
}

// With view, people read our kinds, and with edit they write them, all but the status. Nothing else that is
// installed is added to these roles.
func TestPeopleMayReadAndWriteOurKinds(t *testing.T) {
	verbs := map[string][]string{"cnat-view": {"get", "list", "watch"}, "cnat-edit": {"create", "delete", "deletecollection", "patch", "update"}}
	want, got := map[string][]rbacv1.PolicyRule{}, map[string][]rbacv1.PolicyRule{}
	for name, verbs := range verbs {
		for _, crd := range of[apiextensionsv1.CustomResourceDefinition](t, build(t, "crd"), "CustomResourceDefinition") {
			want[name] = append(want[name], rbacv1.PolicyRule{APIGroups: []string{crd.Spec.Group}, Resources: []string{crd.Spec.Names.Plural}, Verbs: verbs})
		}
	}
	for _, role := range of[rbacv1.ClusterRole](t, build(t, "default"), "ClusterRole") {
		if forPeople(role) {
			got[role.Name] = role.Rules
		}
	}
	assert.Equal(t, want, got)
}

// testAggregation reads the roles of the API server. The controller that adds one to the other is not here: it is
// part of kube-controller-manager, and step 4 of part 4 shows it at work.
func testAggregation(t *testing.T, s *server) {
	s.grant(t, "users")
	list, err := s.client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for name, want := range map[string][]string{"view": {"cnat-view"}, "edit": {"cnat-edit", "cnat-view"}, "admin": {"cnat-edit", "cnat-view"}} {
		added := slices.DeleteFunc(addedTo(t, list.Items, name), func(role string) bool { return !strings.HasPrefix(role, "cnat-") })
		assert.ElementsMatch(t, want, added, name)
	}
}

// addedTo are the names of the roles whose rules the controller adds to those of one.
func addedTo(t *testing.T, roles []rbacv1.ClusterRole, name string) (names []string) {
	t.Helper()
	i := slices.IndexFunc(roles, func(role rbacv1.ClusterRole) bool { return role.Name == name })
	if roles[i].AggregationRule == nil {
		return nil
	}
	for _, labelSelector := range roles[i].AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&labelSelector)
		require.NoError(t, err)
		for _, role := range roles {
			if selector.Matches(labels.Set(role.Labels)) {
				names = append(append(names, role.Name), addedTo(t, roles, role.Name)...)
			}
		}
	}
	return names
}
