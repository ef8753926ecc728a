// Package testrights compares the rights that a program has with those that it uses.
package testrights

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// Granted are the rights that rules grant, sorted: "get pods" or "update example.com/things/status",
// and "get pods a" if the rule has that name.
func Granted(rules []rbacv1.PolicyRule) (rights []string) {
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				rights = append(rights, verb+" "+url)
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, name := range names {
						rights = append(rights, strings.TrimSpace(verb+" "+in(group, resource)+" "+name))
					}
				}
			}
		}
	}
	return sorted(rights)
}

// in is the full name of a resource. The core group has none.
func in(group, resource string) string { return strings.TrimPrefix(group+"/"+resource, "/") }

func sorted(rights []string) []string {
	slices.Sort(rights)
	return slices.Compact(rights)
}

// Requests are those of a client, as the rights that they need.
type Requests struct {
	Named bool // with the names of objects

	mu   sync.Mutex
	list []string
}

// Watch records what is asked with a configuration, and how often it is refused for want of
// rights.
func (r *Requests) Watch(config *rest.Config) {
	testcluster.Through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		right, name := needed(request)
		if r.Named && name != "" {
			right += " " + name
		}
		if err == nil && response.StatusCode == http.StatusForbidden {
			right = "refused: " + right
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.list = append(r.list, right)
		return response, err
	})(config)
}

// All are the requests since the last call of Take.
func (r *Requests) All() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// Take returns them, and forgets them.
func (r *Requests) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// Used are the rights that they need, sorted as those of Granted are.
func (r *Requests) Used() []string { return sorted(r.All()) }

// needed is the right that a request needs, and the name of its object.
func needed(request *http.Request) (right, name string) {
	verb := map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[request.Method]
	group, parts := "", strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[3:]
	default:
		return verb + " " + request.URL.Path, ""
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	query := request.URL.Query()
	switch collection := len(parts) == 1; {
	case collection && query.Get("watch") != "":
		verb = "watch"
	case collection && verb == "get":
		verb = "list"
	case collection && verb == "delete":
		verb = "deletecollection"
	}
	parts = append(parts, "", "") // a name, and a subresource
	if selector, err := fields.ParseSelector(query.Get("fieldSelector")); err == nil {
		name, _ = selector.RequiresExactMatch("metadata.name")
	}
	return verb + " " + strings.TrimSuffix(in(group, parts[0])+"/"+parts[2], "/"), cmp.Or(parts[1], name)
}
