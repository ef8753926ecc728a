package permissions

import (
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
)

func rule(verb, group, resource string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}, ResourceNames: names}
}

func path(path string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{path}}
}

func TestAGrantCoversWhatTheAuthorizerWouldAllow(t *testing.T) {
	for name, tc := range map[string]struct {
		grant   Grant
		request Request
		want    bool
	}{
		"a resource does not cover its subresource": {Grant{Rule: rule("update", "x", "ats")}, Request{Verb: "update", Group: "x", Resource: "ats/status"}, false},
		"a name, asked for":                         {Grant{Rule: rule("get", "", "pods", "p")}, Request{Verb: "get", Resource: "pods", Name: "p"}, true},
		"a name, asked for another":                 {Grant{Rule: rule("get", "", "pods", "p")}, Request{Verb: "get", Resource: "pods", Name: "q"}, false},
		"a name, asked for all":                     {Grant{Rule: rule("list", "", "pods", "p")}, Request{Verb: "list", Resource: "pods"}, false},
		"in its namespace":                          {Grant{Namespace: "a", Rule: rule("get", "", "pods")}, Request{Verb: "get", Resource: "pods", Namespace: "a"}, true},
		"in another namespace":                      {Grant{Namespace: "a", Rule: rule("get", "", "pods")}, Request{Verb: "get", Resource: "pods", Namespace: "b"}, false},
		"a namespace is not all of them":            {Grant{Namespace: "a", Rule: rule("list", "", "pods")}, Request{Verb: "list", Resource: "pods"}, false},
		"a path":                                    {Grant{Rule: path("/metrics")}, Request{Verb: "get", Path: "/metrics"}, true},
		"a path is not what is below it":            {Grant{Rule: path("/metrics")}, Request{Verb: "get", Path: "/metrics/slis"}, false},
		"a path has no namespace to be granted in":  {Grant{Namespace: "a", Rule: path("/metrics")}, Request{Verb: "get", Path: "/metrics"}, false},
		"a path is no resource":                     {Grant{Rule: path("*")}, Request{Verb: "get", Resource: "pods"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.grant.covers(tc.request))
		})
	}
}

func TestAStarCannotBeUsedInFull(t *testing.T) {
	for _, open := range []rbacv1.PolicyRule{rule("*", "", "pods"), rule("get", "*", "pods"), rule("get", "", "*"), rule("get", "", "*/scale"), path("/api/*")} {
		assert.True(t, Grant{Rule: open}.open(), "%v", open)
	}
	for _, closed := range []rbacv1.PolicyRule{rule("get", "", "pods"), rule("get", "", "pods/log", "p"), path("/api")} {
		assert.False(t, Grant{Rule: closed}.open(), "%v", closed)
	}
}

func TestRulesAreTakenApart(t *testing.T) {
	var whats []string
	for _, g := range apart("binding", "demo", []rbacv1.PolicyRule{
		{Verbs: []string{"get", "list"}, APIGroups: []string{"x"}, Resources: []string{"ats/status"}, ResourceNames: []string{"a"}},
		rule("get", "x", "ats/status", "a"), // known
		path("/metrics"),
	}) {
		assert.Equal(t, "binding", g.Binding)
		assert.Equal(t, "demo", g.Namespace)
		whats = append(whats, g.Rule.Verbs[0]+" "+g.what())
	}
	assert.ElementsMatch(t, []string{`get ats.x/status "a"`, `list ats.x/status "a"`, `get /metrics`}, whats)
}
