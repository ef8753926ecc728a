package settings

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/testcluster"
)

// TestTheRoleIsTheSmallest runs the operator with the shipped role less one verb, for each verb
// of it. All other tests show that the whole role is enough.
func TestTheRoleIsTheSmallest(t *testing.T) {
	w := sharedWorld(t)
	rules := testcluster.Rules(t, "../config/rbac/settings.yaml")
	for i, rule := range rules {
		for _, verb := range rule.Verbs {
			right := verb + " " + rule.Resources[0]
			t.Run("without "+right, func(t *testing.T) {
				t.Parallel()
				less := slices.Clone(rules)
				less[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
				less = slices.DeleteFunc(less, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
				s := w.newEnv(t, regexp.MustCompile(`\W`).ReplaceAllString(right, "-"))
				s.config = w.User(t, s.name, less)
				denied := runAs(s)
				lifeOf(s, func() bool { return denied.String() != "" })
				s.eventually(func() bool { return denied.String() != "" }, "it needs no such right")
				for _, what := range denied.Lines() {
					assert.Equal(t, right, what)
				}
			})
		}
	}
}

// lifeOf does all that an operator needs a right for: it is to create, to patch, to delete, to
// write a status and to record an event. One that is refused something may not come so far.
func lifeOf(s *env, refused func() bool) {
	becomes := func(want string) {
		s.eventually(func() bool {
			state, err := s.state(s.t.Context())
			return refused() || err == nil && state["defaults"] == want
		})
	}
	s.layer("defaults", 0, data{"colour": "blue"})
	becomes("True Merged 1")
	s.layer("site", 10, data{"colour": "green"})
	becomes("False Overridden 1, colour by site")
	s.deleteLayer("site")
	becomes("True Merged 1")
	s.deleteLayer("defaults")
}

var refusal = regexp.MustCompile(`cannot (\w+) resource \\"([\w/]+)\\"`)

// runAs runs the operator until the test ends. It returns what the server refuses, a line each.
func runAs(s *env) *testcluster.Output {
	denied := &testcluster.Output{}
	config := rest.CopyConfig(s.config)
	config.QPS, config.ContentType = -1, runtime.ContentTypeJSON
	through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err != nil || response.StatusCode != http.StatusForbidden {
			return response, err
		}
		body, err := readWhole(response)
		if found := refusal.FindStringSubmatch(body); found != nil {
			fmt.Fprintln(denied, found[1], found[2])
		} else {
			fmt.Fprintln(denied, body)
		}
		return response, err
	})(config)

	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	done := make(chan error, 1)
	go func() { done <- Run(ctx, config, Options{Namespace: s.name, Workers: 1, SkipNameValidation: true}) }()
	s.t.Cleanup(func() {
		cancel()
		// Who may not list or watch is refused at the start, all others go on.
		if err := <-done; err != nil {
			assert.True(s.t, apierrors.IsForbidden(err), "%v", err)
		}
	})
	return denied
}

func TestWithoutRightsItDoesNotStart(t *testing.T) {
	err := Run(t.Context(), sharedWorld(t).User(t, "jane", nil), Options{})
	require.EqualError(t, err, `settingslayers.settings.example.com is forbidden: User "jane" cannot list resource "settingslayers" in API group "settings.example.com" at the cluster scope; ask an administrator for that verb on that resource`)
}
