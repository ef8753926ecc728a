package bundle

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// grant is a binding and its role.
type grant struct {
	binding, role *unstructured.Unstructured
	rules         []rbacv1.PolicyRule
}

// grants are those of the bindings whose subject is this account.
func (m Manifests) grants(account string) ([]grant, error) {
	var grants []grant
	for _, binding := range slices.Concat(m.ofKind("RoleBinding"), m.ofKind("ClusterRoleBinding")) {
		typed, err := convert[rbacv1.RoleBinding](binding) // has the fields of both
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(typed.Subjects, func(s rbacv1.Subject) bool { return s.Kind == rbacv1.ServiceAccountKind && s.Name == account }) {
			continue
		}
		if len(typed.Subjects) > 1 {
			return nil, fmt.Errorf("the %s %s has other subjects, too; give them a binding of their own", binding.GetKind(), binding.GetName())
		}
		role, err := m.named(typed.RoleRef.Kind, typed.RoleRef.Name)
		if err != nil {
			return nil, fmt.Errorf("the %s %s: %w", binding.GetKind(), binding.GetName(), err)
		}
		rules, err := convert[rbacv1.ClusterRole](role) // has all that a Role has
		if err != nil {
			return nil, err
		}
		grants = append(grants, grant{binding, role, rules.Rules})
	}
	return grants, nil
}

// permissions are what a CSV grants to an account.
type permissions struct {
	ServiceAccountName string              `json:"serviceAccountName"`
	Rules              []rbacv1.PolicyRule `json:"rules"`
}

// permissionsOf joins the rules of the grants by bindings of one kind.
func permissionsOf(account string, grants []grant, kind string) []permissions {
	var rules []rbacv1.PolicyRule
	for _, g := range grants {
		if g.binding.GetKind() == kind {
			rules = append(rules, g.rules...)
		}
	}
	if rules == nil {
		return nil
	}
	return []permissions{{account, rules}}
}
