package settings

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

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

// TestTheRoleIsTheSmallest runs the operator with the shipped role less one verb,
// for each verb of it. All other tests show that the whole role is enough.
func TestTheRoleIsTheSmallest(t *testing.T) {
	w := sharedWorld(t)
	rules := testcluster.Rules(t, "../config/rbac/settings.yaml")
	for i, rule := range rules {
		for _, verb := range rule.Verbs {
			resource := rule.Resources[0]
			t.Run("without "+verb+" "+resource, func(t *testing.T) {
				t.Parallel()
				less := slices.Clone(rules)
				less[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
				less = slices.DeleteFunc(less, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
				s := w.newEnv(t, envName(verb+" "+regexp.MustCompile(`\W`).ReplaceAllString(resource, " ")))
				s.config = w.User(t, s.name, less)
				denied := runAs(s)
				lifeOf(s, func() bool { return len(denied()) > 0 })
				require.Eventually(t, func() bool { return slices.Contains(denied(), verb+" "+resource) }, testcluster.TestTimeout, 20*time.Millisecond)
				assert.Len(t, slices.Compact(slices.Sorted(slices.Values(denied()))), 1, "%s", denied())
			})
		}
	}
}

// lifeOf does all that an operator needs a right for: it is to create, to patch,
// to delete, to write a status and to record an event. An operator that is refused something may
// not come so far.
func lifeOf(s *env, refused func() bool) {
	becomes := func(want string) {
		require.Eventually(s.t, func() bool {
			state, err := s.state(s.t.Context())
			return refused() || err == nil && state["defaults"] == want
		}, testcluster.TestTimeout, 20*time.Millisecond)
	}
	s.layer("defaults", 0, data{"colour": "blue"})
	becomes("True Merged 1")
	s.layer("site", 10, data{"colour": "green"})
	becomes("False Overridden 1, colour by site")
	s.deleteLayer("site")
	becomes("True Merged 1")
	s.deleteLayer("defaults")
}

// runAs runs the operator until the test ends. The function that it returns
// returns what the server refused.
func runAs(s *env) (denied func() []string) {
	var mu sync.Mutex
	var list []string
	config := rest.CopyConfig(s.config)
	config.QPS = -1
	config.ContentType = runtime.ContentTypeJSON
	through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode == http.StatusForbidden {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			response.Body = io.NopCloser(bytes.NewReader(body))
			mu.Lock()
			defer mu.Unlock()
			list = append(list, inVerbs(string(body)))
		}
		return response, err
	})(config)

	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, config, Options{Namespace: s.name, Workers: 1, SkipNameValidation: true})
	}()
	s.t.Cleanup(func() {
		cancel()
		// Who may not list is refused at the start, all others go on.
		if err := <-done; err != nil {
			assert.True(s.t, apierrors.IsForbidden(err), "%v", err)
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

var refusal = regexp.MustCompile(`cannot (\w+) resource \\"([\w/]+)\\"`)

func inVerbs(body string) string {
	if found := refusal.FindStringSubmatch(body); found != nil {
		return found[1] + " " + found[2]
	}
	return body
}
