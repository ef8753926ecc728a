package behaviour

import (
	"context"
	"net/http"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

// All stories are played with the rights of the shipped role, so they show that
// it is enough.
var role = map[string]story{
	"without its rule about pods an operator can do nothing": func(s *scene) {
		isPods := func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "pods") }
		less := slices.DeleteFunc(slices.Clone(s.suite.rules), isPods)
		require.Less(s.t, len(less), len(s.suite.rules))
		o := s.start(as(s.suite.cluster.User(s.t, s.namespace, less)), endingAnyhow())
		s.create("kettle", "09:00:00")
		s.eventually("the server to refuse it the pods", func(context.Context) (any, bool) {
			return o.requests.about(""), o.requests.answered("list pods", http.StatusForbidden) || o.requests.answered("watch pods", http.StatusForbidden)
		})
		s.ran()
		assert.Empty(s.t, words(s.get("kettle")))
	},

	"the role allows nothing with secrets, roles or CRDs, and no star": func(s *scene) {
		for _, rule := range s.suite.rules {
			for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				assert.NotContains(s.t, word, "*")
			}
			for _, resource := range rule.Resources {
				assert.Contains(s.t, []string{"ats", "ats/status", "pods", "events"}, resource)
			}
		}
	},
}
