package clientgo

import (
	"context"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/05-crd-operator/wallclock"
	"example.com/hacking-a-controller/testcluster"
)

func runOnce(ctx context.Context, config *rest.Config, namespace string) error {
	ctx = klog.NewContext(ctx, logr.Discard())
	return Run(ctx, config, Options{Namespace: namespace, Workers: 8, Clock: wallclock.New()})
}

func TestAClientThatCannotBeCreated(t *testing.T) {
	err := runOnce(t.Context(), &rest.Config{Host: "http://[moon"}, "")
	require.ErrorContains(t, err, "creating a client for http://[moon: ")
	require.ErrorContains(t, err, "; repair the kubeconfig")
}

func TestToBeInterruptedAtTheStartIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, runOnce(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, ""))
}

// What Ats can rely on is tested in behaviour_test.go. This is what happens at the start.
func TestOneCluster(t *testing.T) {
	c := testcluster.Start(t)
	t.Run("without the CRD it does not start", func(t *testing.T) {
		require.EqualError(t, runOnce(t.Context(), c.Config, ""), "the cluster does not know ats; create their CRD, which is in config/crd")
	})
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
	t.Run("without rights it does not start", func(t *testing.T) { withoutRights(t, c) })
}

// withoutRights takes the right away to watch what the start depends on. Package access has the others.
func withoutRights(t *testing.T, c *testcluster.Cluster) {
	for _, resource := range []string{"pods", "ats"} {
		rules := testcluster.Rules(t, "../config/rbac/clientgo.yaml")
		for i := range rules {
			if slices.Contains(rules[i].Resources, resource) {
				rules[i].Verbs = slices.DeleteFunc(rules[i].Verbs, func(v string) bool { return v == "watch" })
			}
		}
		err := runOnce(t.Context(), c.User(t, "blind-to-"+resource, rules), "")
		require.ErrorContains(t, err, `cannot watch resource "`+resource+`"`)
		require.ErrorContains(t, err, "; ask an administrator for that verb on that resource")
	}
}
