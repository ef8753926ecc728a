package testrights

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestTheRightThatARequestNeeds(t *testing.T) {
	for name, tc := range map[string]struct{ method, url, right, object string }{
		"the core group has no name":          {"POST", "/api/v1/namespaces/a/events", "create events", ""},
		"another group has one":               {"POST", "/apis/events.k8s.io/v1/namespaces/a/events", "create events.k8s.io/events", ""},
		"an object is got":                    {"GET", "/api/v1/namespaces/a/pods/b", "get pods", "b"},
		"a namespace is an object, too":       {"GET", "/api/v1/namespaces/a", "get namespaces", "a"},
		"objects are listed":                  {"GET", "/api/v1/pods", "list pods", ""},
		"objects are watched":                 {"GET", "/api/v1/namespaces/a/pods?watch=true", "watch pods", ""},
		"objects are deleted together":        {"DELETE", "/api/v1/namespaces/a/secrets", "deletecollection secrets", ""},
		"a selector names an object":          {"GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db", "list pods", "b"},
		"a subresource is a resource":         {"PUT", "/apis/example.com/v1/namespaces/a/things/b/status", "update example.com/things/status", "b"},
		"a resource needs no namespace":       {"POST", "/apis/authentication.k8s.io/v1/tokenreviews", "create authentication.k8s.io/tokenreviews", ""},
		"what is no resource has only a path": {"GET", "/metrics", "get /metrics", ""},
		"a group by itself is no resource":    {"GET", "/apis/apps/v1", "get /apis/apps/v1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), tc.method, "https://server"+tc.url, nil)
			require.NoError(t, err)
			right, object := needed(request)
			assert.Equal(t, []string{tc.right, tc.object}, []string{right, object})
		})
	}
}

func TestTheRightsThatRulesGrant(t *testing.T) {
	assert.Equal(t, []string{"get /metrics", "get apps/b x", "get apps/b y", "list a", "list c", "watch a", "watch c"}, Granted([]rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"a", "c"}, Verbs: []string{"watch", "list"}},
		{APIGroups: []string{"apps"}, Resources: []string{"b"}, ResourceNames: []string{"y", "x"}, Verbs: []string{"get"}},
		{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}},
	}))
}
