// Package behaviour tests what an operator for Ats has to do, in cases that run on a real API server
// with a clock that the test sets. Both forms of the operator pass all of them. What a reconcile decides,
// and what it makes of each answer, is tested beside the code; here is what needs a server or a watch.
//
//	life.go      what becomes of an At and of its pod
//	stale.go     what never happens because a cache is stale
//	crash.go     what comes of it when the operator dies after any write
//	quiet.go     the least work
//	role.go      the operator may do what it has to, and no more
//
// The cases are made of env.go, where the test is the users and the kubelet, and of operator.go: the
// operator, and what it requests.
package behaviour

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"example.com/hacking-a-controller/testcluster"
)

// Operator works on the Ats of a namespace until the context ends. It returns an
// error only if it could not start.
type Operator func(ctx context.Context, config *rest.Config, namespace string, workers int, clock clock.WithTicker) error

// suite is what all cases have in common.
type suite struct {
	cluster *testcluster.Cluster
	run     Operator
	rules   []rbacv1.PolicyRule
	config  *rest.Config // a user that may do what the rules allow
}

// Test runs all cases with the operator. It has no other rights than those of
// the ClusterRole in config/rbac, under the policy in config/admission.
func Test(t *testing.T, run Operator, config, roleName string) {
	t.Run("start", func(t *testing.T) { starts(t, run) })
	s := newSuite(t, run, config, roleName)
	t.Run("alone", func(t *testing.T) { outage(newEnv(t, s)) })
	t.Run("together", func(t *testing.T) {
		s.runCases(t, life, stale, quiet, role)
		t.Run("crashes", func(t *testing.T) { t.Parallel(); crashes(t, s) })
		t.Run("rights", func(t *testing.T) { t.Parallel(); rights(t, s) })
	})
}

// starts tests what comes of a start without a server. Without a right, it's in role.go.
func starts(t *testing.T, run Operator) {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	start := func(config rest.Config) error { return run(ctx, &config, metav1.NamespaceAll, 1, clock.RealClock{}) }
	nowhere := rest.Config{Host: "http://127.0.0.1:1"}
	require.EqualError(t, start(nowhere), "http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)")
	err := start(rest.Config{Host: "https://moon", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nowhere"}})
	require.ErrorContains(t, err, "for https://moon: ")
	require.ErrorContains(t, err, "open /nowhere: no such file or directory")
	require.ErrorContains(t, err, "; repair the kubeconfig")
	cancel()
	require.NoError(t, start(nowhere), "to be stopped is no error")
}

// TestStale runs the cases of stale caches alone, but for those with these names.
func TestStale(t *testing.T, run Operator, config, roleName string, without ...string) {
	cases := maps.Clone(stale)
	for _, name := range without {
		require.Contains(t, cases, name)
		delete(cases, name)
	}
	newSuite(t, run, config, roleName).runCases(t, cases)
}

// newSuite starts a cluster, with what the operator needs.
func newSuite(t *testing.T, run Operator, config, roleName string) *suite {
	t.Helper()
	s := &suite{cluster: testcluster.Start(t), run: run, rules: testcluster.Rules(t, filepath.Join(config, "rbac", roleName+".yaml"))}
	s.config = s.cluster.User(t, roleName, s.rules)
	err := run(klog.NewContext(t.Context(), logr.Discard()), s.config, metav1.NamespaceAll, 1, clock.RealClock{})
	require.EqualError(t, err, "the cluster does not know ats; create their CRD, which is in config/crd")
	s.cluster.InstallCRDs(t, testcluster.ReadCRDs(t, filepath.Join(config, "crd"))...)
	s.cluster.Kubectl(t, "create", "-f", filepath.Join(config, "admission", "pods.yaml"))
	return s
}

func (s *suite) runCases(t *testing.T, tables ...map[string]func(*env)) {
	for _, table := range tables {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				table[name](newEnv(t, s))
			})
		}
	}
}
