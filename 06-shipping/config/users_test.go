package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// aggregates begins the label of a role whose rules the cluster adds to those of view, edit or admin. What view
// has, edit has, too, and admin has what edit has.
const aggregates = rbacv1.GroupName + "/aggregate-to-"

// forPeople says whether a role is added to one of these.
func forPeople(role rbacv1.ClusterRole) bool {
	for label := range role.Labels {
		if strings.HasPrefix(label, aggregates) {
			return true
		}
	}
	return false
}

// With view, people read our kinds, and with edit they write them, all but the status. Nothing else that is
// installed is added to these roles.
func TestPeopleMayReadAndWriteOurKinds(t *testing.T) {
	want, got := map[string][]rbacv1.PolicyRule{}, map[string][]rbacv1.PolicyRule{}
	for to, verbs := range map[string][]string{"view": {"get", "list", "watch"}, "edit": {"create", "delete", "deletecollection", "patch", "update"}} {
		for _, crd := range of[apiextensionsv1.CustomResourceDefinition](t, build(t, "crd"), "CustomResourceDefinition") {
			want[aggregates+to] = append(want[aggregates+to], rbacv1.PolicyRule{APIGroups: []string{crd.Spec.Group}, Resources: []string{crd.Spec.Names.Plural}, Verbs: verbs})
		}
	}
	for _, role := range of[rbacv1.ClusterRole](t, build(t, "default"), "ClusterRole") {
		for label, value := range role.Labels {
			if strings.HasPrefix(label, aggregates) {
				assert.Equal(t, "true", value)
				got[label] = append(got[label], role.Rules...)
			}
		}
	}
	assert.Equal(t, want, got)
}
