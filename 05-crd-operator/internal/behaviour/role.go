package behaviour

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
)

// All cases run with the rights of the shipped role, so they show that it is
// enough.
var role = map[string]testCase{
	"the role allows nothing with secrets, roles or CRDs, and no star": func(s *env) {
		for _, rule := range s.suite.rules {
			for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				assert.NotContains(s.t, word, "*")
			}
			for _, resource := range rule.Resources {
				assert.Contains(s.t, []string{"ats", "ats/status", "pods", "events"}, resource)
			}
		}
	},

	"of a pod, it may change nothing but its finalizer": func(s *env) {
		pod := s.foreignPod("kettle-pod", func(p *corev1.Pod) {
			p.Labels, p.Finalizers = map[string]string{"app": "kettle"}, []string{"example.com/other", lifecycle.Finalizer}
		})
		pods := kubernetes.NewForConfigOrDie(s.suite.config).CoreV1().Pods(s.namespace)
		patch := func(ctx context.Context, patch string, dryRun ...string) error {
			_, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{DryRun: dryRun})
			return err
		}
		for name, change := range map[string]string{
			"its labels":                         `{"metadata":{"labels":{"app":"pot"}}}`,
			"its annotations":                    `{"metadata":{"annotations":{"a":"b"}}}`,
			"its owner":                          `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"pot","uid":"1"}]}}`,
			"its image":                          `{"spec":{"containers":[{"name":"command","image":"nginx"}]}}`,
			"the finalizer of somebody else":     `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/other"]}}`,
			"all finalizers":                     `{"metadata":{"finalizers":null}}`,
			"its finalizers, by one":             `{"metadata":{"finalizers":["example.com/new"]}}`,
			"its finalizer, and its labels, too": `{"metadata":{"labels":null,"$deleteFromPrimitiveList/finalizers":["` + lifecycle.Finalizer + `"]}}`,
		} {
			s.eventually("a refusal to change "+name, func(ctx context.Context) (any, bool) {
				err := patch(ctx, change, metav1.DryRunAll) // the policy takes effect a moment after it was created
				return err, apierrors.IsForbidden(err) && strings.Contains(err.Error(), "an operator of Ats may")
			})
		}
		require.NoError(s.t, patch(s.t.Context(), string(lifecycle.FinalizerPatch(pod))))
		assert.Equal(s.t, []string{"example.com/other"}, s.pod("kettle-pod").Finalizers)
		s.patchPod("kettle-pod", `{"metadata":{"labels":{"app":"pot"},"finalizers":null}}`) // the administrator may
	},
}

// rights shows that no right of the role is too much: an operator without it is
// refused something.
func rights(t *testing.T, suite *suite) {
	for i, rule := range suite.rules {
		for _, verb := range rule.Verbs {
			t.Run("without "+verb+" "+rule.Resources[0], func(t *testing.T) {
				t.Parallel()
				refused(newEnv(t, suite), without(suite.rules, i, verb), named(verb)+" "+rule.Resources[0])
			})
		}
	}
}

// refused runs the life of an At, in which an operator needs all that it ever
// needs, until the operator is refused such a request.
func refused(s *env, rules []rbacv1.PolicyRule, such string) {
	o := s.start(as(s.suite.cluster.User(s.t, s.namespace, rules)), endingAnyhow())
	seen := func() bool { return o.requests.answered(such, http.StatusForbidden) }
	s.foreignPod("kettle-pod")
	s.create("kettle", "09:00:00")
	s.eventually("a refusal, or the foreign pod to be in the way", func(context.Context) (any, bool) {
		return o.requests.about(""), seen() || words(s.get("kettle")) == taken
	})
	if words(s.get("kettle")) == taken {
		s.deletePod("kettle-pod")
		s.step = time.Second
		s.deletePod("kettle-pod")
	}
	s.eventually("a refusal", func(context.Context) (any, bool) { return o.requests.about(""), seen() })
	for _, r := range o.requests.all() {
		assert.True(s.t, r.what == such || r.code != http.StatusForbidden, "nothing else is refused, but %s was", r.what)
	}
}

// without returns the rules less one verb of the rule with that index.
func without(rules []rbacv1.PolicyRule, index int, verb string) []rbacv1.PolicyRule {
	less := slices.Clone(rules)
	less[index].Verbs = slices.DeleteFunc(slices.Clone(less[index].Verbs), func(v string) bool { return v == verb })
	return slices.DeleteFunc(less, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
}

// named is what the ledger calls a request that needs the verb.
func named(verb string) string {
	return strings.NewReplacer("update", "write", "patch", "write").Replace(verb)
}
