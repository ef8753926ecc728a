package permissions

import (
	"reflect"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// Grant is the smallest thing that a rule can allow.
type Grant struct {
	// Binding is where it comes from, in words.
	Binding string
	// Namespace is where it holds. Empty is cluster-wide.
	Namespace string
	// Rule has one verb and one resource or one path, and at most one name.
	Rule rbacv1.PolicyRule
}

// apart takes rules apart. What they grant twice is one grant.
func apart(binding, namespace string, rules []rbacv1.PolicyRule) []Grant {
	var grants []Grant
	for _, rule := range rules {
		for _, atom := range validation.BreakdownRule(rule) {
			grant := Grant{Binding: binding, Namespace: namespace, Rule: atom}
			if !slices.ContainsFunc(grants, func(g Grant) bool { return reflect.DeepEqual(g, grant) }) {
				grants = append(grants, grant)
			}
		}
	}
	return grants
}

// covers tells whether the authorizer would allow the request for this grant.
func (g Grant) covers(r Request) bool {
	if g.Namespace != "" && g.Namespace != r.Namespace {
		return false
	}
	covers, _ := validation.Covers([]rbacv1.PolicyRule{g.Rule}, []rbacv1.PolicyRule{r.rule()})
	return covers
}

func covered(grants []Grant, r Request) bool {
	return slices.ContainsFunc(grants, func(g Grant) bool { return g.covers(r) })
}

// open tells whether the grant has a star. Nobody can use such a grant in full.
func (g Grant) open() bool {
	return slices.ContainsFunc(slices.Concat(g.Rule.Verbs, g.Rule.APIGroups, g.Rule.Resources, g.Rule.NonResourceURLs),
		func(word string) bool { return strings.Contains(word, "*") })
}

// what is the grant's target as kubectl writes it, with the name: pods "web-0".
func (g Grant) what() string {
	if len(g.Rule.NonResourceURLs) > 0 {
		return g.Rule.NonResourceURLs[0]
	}
	what := qualified(g.Rule.APIGroups[0], g.Rule.Resources[0])
	if names := g.Rule.ResourceNames; len(names) > 0 {
		what += " " + quoted(names[0])
	}
	return what
}

func quoted(name string) string { return `"` + name + `"` }
