package behaviour

import (
	"cmp"
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
var role = map[string]func(*env){
	"of a pod, it may change nothing but its finalizer": func(s *env) {
		pod := s.foreignPod("kettle", func(p *corev1.Pod) {
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
		assert.Equal(s.t, []string{"example.com/other"}, s.pod("kettle").Finalizers)
		s.patchPod("kettle", `{"metadata":{"labels":{"app":"pot"},"finalizers":null}}`) // the administrator may
	},
}

// rights shows that no right of the role is too much: an operator without it is refused something.
func rights(t *testing.T, suite *suite) {
	for i, rule := range suite.rules {
		require.Len(t, rule.Resources, 1)
		for _, verb := range rule.Verbs {
			t.Run("without "+verb+" "+rule.Resources[0], func(t *testing.T) {
				t.Parallel()
				less := slices.Clone(suite.rules)
				less[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return v == verb })
				less = slices.DeleteFunc(less, func(r rbacv1.PolicyRule) bool { return len(r.Verbs) == 0 })
				s := newEnv(t, suite)
				s.refused(less, verb, rule.Resources[0])
			})
		}
	}
}

// refused runs the life of an At, in which an operator needs all that it ever needs, until the
// operator is refused what it has no right to. At the start, that is an error.
func (s *env) refused(rules []rbacv1.PolicyRule, verb, resource string) {
	user := s.suite.cluster.User(s.t, s.namespace, rules)
	o := s.start(func(o *operator) { o.config, o.mayFail = user, true })
	forbidden := func() (what []string) {
		for _, r := range o.all() {
			if r.code == http.StatusForbidden {
				what = append(what, r.what)
			}
		}
		return what
	}
	s.foreignPod("kettle")
	s.create("kettle", "09:00:00")
	s.eventually("a refusal, or the foreign pod to be in the way", func(context.Context) (any, bool) {
		return o.all(), len(forbidden()) > 0 || words(s.get("kettle")) == taken
	})
	if words(s.get("kettle")) == taken {
		s.deletePod("kettle")
		s.step = time.Second
		s.deletePod("kettle")
	}
	s.eventually("a refusal", func(context.Context) (any, bool) { return o.all(), len(forbidden()) > 0 })
	what := cmp.Or(map[string]string{"update": "write", "patch": "write"}[verb], verb)
	for _, refused := range forbidden() {
		assert.Equal(s.t, what+" "+resource, refused, "nothing else is refused")
	}
	switch {
	case verb == "list" || verb == "watch":
		s.eventually("its end", func(context.Context) (any, bool) { return o.all(), o.running.Err() != nil })
		require.ErrorContains(s.t, o.failed, "; ask an administrator for that verb on that resource")
	case verb+" "+resource == "create pods":
		s.becomes("kettle", notMade)
		s.recorded("kettle", "Warning CreationRefused")
	}
}
