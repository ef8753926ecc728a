// Package behaviour tests what an operator for Ats has to do, in cases that run on a
// real API server with a fake clock. Both forms of the operator pass all of them.
//
//	when.go       the command is run on time
//	phases.go     what the pod is like, and what the status of an At shows
//	once.go       there is one pod for an At, ever
//	stale.go      also when a cache is stale, and none for an At that is gone or postponed
//	crash.go      also when the operator dies after any write
//	names.go      pods that were there before
//	quiet.go      the least work
//	outage.go     the server goes, or the operator
//	role.go       the operator may do what it has to, and no more
//
// The other files are what the cases are made of: env.go the clock and the users, pods.go
// the kubelet, expect.go what is expected, operator.go the operator, clock.go and
// requests.go what it does, faults.go the faults that it is run with.
package behaviour

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
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

// testCase is the value in a table. Its key is a sentence, the name of the case.
type testCase func(*env)

// Test runs all cases with the operator. It has no other rights than those of
// the ClusterRole in config/rbac, under the policy in config/admission.
func Test(t *testing.T, run Operator, config, roleName string) {
	s, crd := newSuite(t, run, config, roleName)

	s.cluster.InstallCRDs(t, crd)
	t.Run("alone", func(t *testing.T) { s.runCases(t, alone, outage) })
	t.Run("together", func(t *testing.T) {
		s.runCases(t, together, when, phases, once, stale, names, quiet, role)
		t.Run("crashes", func(t *testing.T) { t.Parallel(); crashes(t, s) })
		t.Run("deaths", func(t *testing.T) { t.Parallel(); nothingRunsTwice(t, s) })
		t.Run("rights", func(t *testing.T) { t.Parallel(); rights(t, s) })
	})
}

// TestStale runs the cases of stale caches alone, but for those with these names.
func TestStale(t *testing.T, run Operator, config, roleName string, without ...string) {
	s, crd := newSuite(t, run, config, roleName)
	s.cluster.InstallCRDs(t, crd)
	cases := maps.Clone(stale)
	for _, name := range without {
		require.Contains(t, cases, name)
		delete(cases, name)
	}
	s.runCases(t, together, cases)
}

// newSuite starts a cluster, with what the operator needs but for the CRD of Ats.
func newSuite(t *testing.T, run Operator, config, roleName string) (*suite, *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	crds := filepath.Join(config, "crd")
	crd := testcluster.ReadCRDs(t, crds)
	i := slices.IndexFunc(crd, func(c *apiextensionsv1.CustomResourceDefinition) bool { return c.Spec.Names.Kind == "At" })
	require.GreaterOrEqual(t, i, 0, "no CRD for At in %s", crds)
	s := &suite{cluster: testcluster.Start(t), run: run, rules: testcluster.Rules(t, filepath.Join(config, "rbac", roleName+".yaml"))}
	s.config = s.cluster.User(t, roleName, s.rules)
	s.cluster.CreatePolicy(t, filepath.Join(config, "admission", "pods.yaml"))
	return s, crd[i]
}

const together, alone = true, false

func (s *suite) runCases(t *testing.T, parallel bool, tables ...map[string]testCase) {
	for _, table := range tables {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			t.Run(name, func(t *testing.T) {
				if parallel {
					t.Parallel()
				}
				table[name](newEnv(t, s))
			})
		}
	}
}
