package settings

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// TestTheRoleIsTheSmallest runs the operator with the shipped role less one verb, for each verb of it, until
// the server refuses it that. All other tests show that the whole role is enough.
func TestTheRoleIsTheSmallest(t *testing.T) {
	cases := map[string]func(*env){}
	rules := testcluster.Rules(t, "../config/rbac/settings.yaml")
	for i, rule := range rules {
		require.Len(t, rule.Resources, 1)
		for _, verb := range rule.Verbs {
			right := verb + " " + rule.Resources[0]
			cases["without "+right] = func(s *env) {
				less := slices.Clone(rules)
				less[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
				less = slices.DeleteFunc(less, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
				s.config = testcluster.Shared(s.t).User(s.t, s.namespace, less)
				denied := refusals(s.config)
				if verb == "list" || verb == "watch" {
					err := Run(s.t.Context(), s.config, Options{Namespace: s.namespace, SkipNameValidation: true})
					require.ErrorContains(s.t, err, "; ask an administrator for that verb on that resource")
				} else {
					s.start()
					s.becomesOr("True Merged 1", denied, func() { s.layer("defaults", 0, data{"colour": "blue"}) })
					s.becomesOr("False Overridden 1, colour by site", denied, func() { s.layer("site", 10, data{"colour": "green"}) })
					s.becomesOr("True Merged 1", denied, func() { s.deleteLayer("site") })
					s.deleteLayer("defaults")
				}
				s.eventually(func() bool { return denied.String() != "" }, "it needs no such right")
				for _, what := range denied.Lines() {
					assert.Equal(s.t, right, what)
				}
			}
		}
	}
	inEnvs(t, cases)
}

// becomesOr does something, and waits until the layer defaults has this status, or the server has refused
// something.
func (s *env) becomesOr(want string, denied *testcluster.Output, do func()) {
	do()
	s.eventually(func() bool {
		state, err := s.state(s.t.Context())
		return denied.String() != "" || err == nil && state["defaults"] == want
	})
}

// refusals returns what the server will refuse to a client, a line each.
func refusals(config *rest.Config) *testcluster.Output {
	denied, cannot := &testcluster.Output{}, regexp.MustCompile(`cannot (\w+) resource \\"([\w/]+)\\"`)
	config.QPS, config.ContentType = -1, runtime.ContentTypeJSON
	testcluster.Through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err != nil || response.StatusCode != http.StatusForbidden {
			return response, err
		}
		body, err := readWhole(response)
		if found := cannot.FindStringSubmatch(body); found != nil {
			fmt.Fprintln(denied, found[1], found[2])
		} else {
			fmt.Fprintln(denied, body)
		}
		return response, err
	})(config)
	return denied
}
