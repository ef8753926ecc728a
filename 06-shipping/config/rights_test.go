package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
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

// excessive is what no right may be.
var excessive = map[string]func(right) bool{
	"a wildcard": func(r right) bool {
		return strings.Contains(r.group+r.resource+r.verb, "*")
	},
	"secrets": func(r right) bool {
		return r.resource == "secrets" || strings.HasPrefix(r.resource, "secrets/")
	},
	"CRDs": func(r right) bool {
		return r.group == "apiextensions.k8s.io"
	},
	"webhooks and policies": func(r right) bool {
		return r.group == "admissionregistration.k8s.io"
	},
	"roles": func(r right) bool {
		return r.group == rbacv1.GroupName
	},
	"the rights of others": func(r right) bool {
		return slices.Contains([]string{"bind", "escalate", "impersonate"}, r.verb)
	},
	"a subresource but the two statuses that it writes": func(r right) bool {
		_, subresource, _ := strings.Cut(strings.TrimPrefix(r.resource, "/"), "/")
		ours := r.verb == "update" && (r.resource == "ats/status" || r.resource == "settingslayers/status")
		return subresource != "" && !ours
	},
	"writing what it only reads": func(r right) bool {
		return (r.resource == "ats" || r.resource == "settingslayers") && !slices.Contains([]string{"get", "list", "watch"}, r.verb)
	},
	"what makes pods": func(r right) bool {
		return r.group == "apps" || r.group == "batch" || r.resource == "replicationcontrollers"
	},
	// A patch can change all of a pod. The policy in config/admission limits it.
	"pods but to create and patch them": func(r right) bool {
		return r.resource == "pods" && !slices.Contains([]string{"create", "get", "list", "patch", "watch"}, r.verb)
	},
	"ConfigMaps but its own": func(r right) bool {
		return r.resource == "configmaps" && !slices.Equal(r.names, []string{"settings"})
	},
	"URLs but that of the metrics": func(r right) bool {
		return strings.HasPrefix(r.resource, "/") && (r.resource != "/metrics" || r.verb != "get")
	},
	// Of a create, the name is not known.
	"Leases but its own": func(r right) bool {
		return r.resource == "leases" && r.verb != "create" && !slices.Equal(r.names, []string{"cnat-manager"})
	},
}

func TestNoRightIsExcessive(t *testing.T) {
	for _, folder := range installations {
		found := rights(t, build(t, folder))
		assert.NotEmpty(t, found)
		for _, r := range found {
			for what, is := range excessive {
				assert.False(t, is(r), "%s: %s is a right to %s", folder, r, what)
			}
		}
	}
}

func TestAnExcessiveRightIsFound(t *testing.T) {
	for what, rule := range map[string]rbacv1.PolicyRule{
		"a wildcard":            {Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		"secrets":               {Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods", "secrets"}},
		"CRDs":                  {Verbs: []string{"list"}, APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}},
		"webhooks and policies": {Verbs: []string{"get"}, APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"validatingwebhookconfigurations"}},
		"roles":                 {Verbs: []string{"create"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}},
		"a subresource but the two statuses that it writes": {Verbs: []string{"update"}, APIGroups: []string{""}, Resources: []string{"pods/status"}},
		"writing what it only reads":                        {Verbs: []string{"update"}, APIGroups: []string{"cnat.programming-kubernetes.info"}, Resources: []string{"ats"}},
		"what makes pods":                                   {Verbs: []string{"create"}, APIGroups: []string{"batch"}, Resources: []string{"jobs"}},
		"pods but to create and patch them":                 {Verbs: []string{"delete"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		"ConfigMaps but its own":                            {Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
		"URLs but that of the metrics":                      {Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics", "/logs"}},
		"Leases but its own":                                {Verbs: []string{"update"}, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"cnat-manager-hash"}},
		"the rights of others":                              {Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"users"}},
	} {
		all := build(t, "default")
		edit(t, all, "ClusterRole", func(role *rbacv1.ClusterRole) { role.Rules = append(role.Rules, rule) })
		assert.True(t, slices.ContainsFunc(rights(t, all), excessive[what]), what)
	}
}

// loose are the bindings that lead to no role or to nobody.
func loose(t *testing.T, all objects) []string {
	t.Helper()
	there := map[string]bool{}
	for _, o := range all {
		there[fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())] = true
	}
	var problems []string
	check := func(name, namespace string, ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
		if ref.Kind == "ClusterRole" {
			namespace = ""
		}
		if role := fmt.Sprintf("%s %s/%s", ref.Kind, namespace, ref.Name); !there[role] {
			problems = append(problems, name+" binds "+role)
		}
		account := "cnat-manager"
		if ref.Name == "cnat-metrics-reader" {
			account = ref.Name
		}
		for _, s := range subjects {
			if subject := fmt.Sprintf("%s %s/%s", s.Kind, s.Namespace, s.Name); !there[subject] || s.Name != account {
				problems = append(problems, name+" is for "+subject)
			}
		}
	}
	for _, b := range of[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding") {
		check(b.Name, "", b.RoleRef, b.Subjects)
	}
	for _, b := range of[rbacv1.RoleBinding](t, all, "RoleBinding") {
		check(b.Name, b.Namespace, b.RoleRef, b.Subjects)
	}
	return problems
}

func TestBindingsLeadToRolesAndToThoseWhoNeedThem(t *testing.T) {
	for _, folder := range installations {
		assert.Empty(t, loose(t, build(t, folder)), folder)
	}

	all := build(t, "default")
	edit(t, all, "ClusterRoleBinding", func(b *rbacv1.ClusterRoleBinding) { b.RoleRef.Name += "-x" })
	edit(t, all, "RoleBinding", func(b *rbacv1.RoleBinding) { b.Subjects[0].Namespace = "default" })
	assert.ElementsMatch(t, []string{
		"cnat-manager binds ClusterRole /cnat-manager-x",
		"cnat-metrics-auth binds ClusterRole /cnat-metrics-auth-x",
		"cnat-manager-leader is for ServiceAccount default/cnat-manager",
	}, loose(t, all))
}
