package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
)

// rights are the rules of all roles of an installation, but for those of people, one by one: a group, a
// resource or URL, a verb, and the names that it is limited to.
func rights(t *testing.T, all objects) []right {
	t.Helper()
	var found []right
	add := func(role string, rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			for _, verb := range rule.Verbs {
				for _, url := range rule.NonResourceURLs {
					found = append(found, right{role: role, resource: url, verb: verb})
				}
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						found = append(found, right{role, group, resource, verb, rule.ResourceNames})
					}
				}
			}
		}
	}
	for _, role := range of[rbacv1.ClusterRole](t, all, "ClusterRole") {
		if !forPeople(role) {
			add(role.Name, role.Rules)
		}
	}
	for _, role := range of[rbacv1.Role](t, all, "Role") {
		add(role.Name, role.Rules)
	}
	return found
}

type right struct {
	role, group, resource, verb string
	names                       []string
}

// excessive is what no right may be, each with a rule that would be one.
var excessive = map[string]struct {
	example rbacv1.PolicyRule
	is      func(right) bool
}{
	"a wildcard": {rule("*", "", "pods"), func(r right) bool { return strings.Contains(r.group+r.resource+r.verb, "*") }},
	"secrets": {rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods", "secrets"}}, func(r right) bool {
		return r.resource == "secrets" || strings.HasPrefix(r.resource, "secrets/")
	}},
	"CRDs":                  {rule("list", "apiextensions.k8s.io", "customresourcedefinitions"), inGroup("apiextensions.k8s.io")},
	"webhooks and policies": {rule("get", admissionv1.GroupName, "validatingwebhookconfigurations"), inGroup(admissionv1.GroupName)},
	"roles":                 {rule("create", rbacv1.GroupName, "rolebindings"), inGroup(rbacv1.GroupName)},
	"the rights of others": {rule("impersonate", "", "users"), func(r right) bool {
		return slices.Contains([]string{"bind", "escalate", "impersonate"}, r.verb)
	}},
	"a subresource but the two statuses that it writes": {rule("update", "", "pods/status"), func(r right) bool {
		_, subresource, _ := strings.Cut(strings.TrimPrefix(r.resource, "/"), "/")
		ours := r.verb == "update" && (r.resource == "ats/status" || r.resource == "settingslayers/status")
		return subresource != "" && !ours
	}},
	"writing what it only reads": {rule("update", cnat.GroupName, "ats"), func(r right) bool {
		return (r.resource == "ats" || r.resource == "settingslayers") && !slices.Contains([]string{"get", "list", "watch"}, r.verb)
	}},
	"what makes pods": {rule("create", "batch", "jobs"), func(r right) bool {
		return r.group == "apps" || r.group == "batch" || r.resource == "replicationcontrollers"
	}},
	// A patch can change all of a pod. The policy in config/admission limits it.
	"pods but to create and patch them": {rule("delete", "", "pods"), func(r right) bool {
		return r.resource == "pods" && !slices.Contains([]string{"create", "get", "list", "patch", "watch"}, r.verb)
	}},
	"ConfigMaps but its own": {rule("list", "", "configmaps"), func(r right) bool {
		return r.resource == "configmaps" && !slices.Equal(r.names, []string{"settings"})
	}},
	"URLs but that of the metrics": {rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics", "/logs"}}, func(r right) bool {
		return strings.HasPrefix(r.resource, "/") && (r.resource != "/metrics" || r.verb != "get")
	}},
	// Of a create, the name is not known.
	"Leases but its own": {rule("update", "coordination.k8s.io", "leases", "cnat-manager-hash"), func(r right) bool {
		return r.resource == "leases" && r.verb != "create" && !slices.Equal(r.names, []string{"cnat-manager"})
	}},
}

func rule(verb, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

func inGroup(group string) func(right) bool { return func(r right) bool { return r.group == group } }

func TestNoRightIsExcessive(t *testing.T) {
	for _, folder := range installations {
		found := rights(t, build(t, folder))
		assert.NotEmpty(t, found)
		for _, r := range found {
			for what, right := range excessive {
				assert.False(t, right.is(r), "%s: %s is a right to %s", folder, r, what)
			}
		}
	}
}

func TestAnExcessiveRightIsFound(t *testing.T) {
	for what, right := range excessive {
		role, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&rbacv1.ClusterRole{
			TypeMeta: metav1.TypeMeta{Kind: "ClusterRole"}, Rules: []rbacv1.PolicyRule{right.example},
		})
		require.NoError(t, err)
		assert.True(t, slices.ContainsFunc(rights(t, objects{{Object: role}}), right.is), what)
	}
}

// A binding must not lead to a role that is not there, or to somebody else.
func TestBindingsLeadToRolesAndToThoseWhoNeedThem(t *testing.T) {
	for _, folder := range installations {
		all := build(t, folder)
		there := map[string]bool{}
		for _, o := range all {
			there[fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())] = true
		}
		check := func(name, namespace string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
			if ref.Kind == "ClusterRole" {
				namespace = ""
			}
			role := fmt.Sprintf("%s %s/%s", ref.Kind, namespace, ref.Name)
			assert.True(t, there[role], "%s: %s binds %s", folder, name, role)
			account := "cnat-manager"
			if ref.Name == "cnat-metrics-reader" {
				account = ref.Name
			}
			for _, s := range subjects {
				subject := fmt.Sprintf("%s %s/%s", s.Kind, s.Namespace, s.Name)
				assert.True(t, there[subject] && s.Name == account, "%s: %s is for %s", folder, name, subject)
			}
		}
		for _, b := range of[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding") {
			check(b.Name, "", b.RoleRef, b.Subjects)
		}
		for _, b := range of[rbacv1.RoleBinding](t, all, "RoleBinding") {
			check(b.Name, b.Namespace, b.RoleRef, b.Subjects)
		}
	}
}
