package permissions

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Request is what the API server asks its authorizer, but for who asks.
type Request struct {
	Verb string
	// Group and Resource say which resource, Resource with the subresource, as
	// rules write it: pods/log.
	Group, Resource string
	// Namespace is empty for a resource without one, and for a request about all.
	Namespace string
	// Name is empty for a request about many objects. One that is about an object
	// still to be made has none either.
	Name string
	// Path is that of a request which is not about a resource: /version.
	Path string
}

// rule is the smallest rule that allows the request.
func (r Request) rule() rbacv1.PolicyRule {
	rule := rbacv1.PolicyRule{Verbs: []string{r.Verb}}
	if r.Path != "" {
		rule.NonResourceURLs = []string{r.Path}
		return rule
	}
	rule.APIGroups, rule.Resources = []string{r.Group}, []string{r.Resource}
	if r.Name != "" {
		rule.ResourceNames = []string{r.Name}
	}
	return rule
}

// what is the request's target as kubectl writes it: ats.example.com/status.
func (r Request) what() string {
	if r.Path != "" {
		return r.Path
	}
	return qualified(r.Group, r.Resource)
}

func qualified(group, resource string) string {
	if group == "" {
		return resource
	}
	resource, sub, has := strings.Cut(resource, "/")
	if has {
		sub = "/" + sub
	}
	return resource + "." + group + sub
}
