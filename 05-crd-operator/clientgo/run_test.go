package clientgo

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
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

// withoutRights takes one right away after the other that the start depends on.
func withoutRights(t *testing.T, c *testcluster.Cluster) {
	rules := testcluster.Rules(t, "../config/rbac/clientgo.yaml")
	for resource, group := range map[string]string{"pods": "", "ats": cnat.GroupName} {
		for _, verb := range []string{"list", "watch"} {
			t.Run(verb+" "+resource, func(t *testing.T) {
				less := slices.Clone(rules)
				for i := range less {
					if slices.Contains(less[i].Resources, resource) {
						less[i].Verbs = slices.DeleteFunc(slices.Clone(less[i].Verbs), func(v string) bool { return v == verb })
					}
				}
				name := verb + "-" + resource
				require.EqualError(t, runOnce(t.Context(), c.User(t, name, less), ""), fmt.Sprintf("%[1]s is forbidden: User %[2]q cannot %[3]s resource %[4]q in API group %[5]q at the cluster scope; ask an administrator for that verb on that resource",
					schema.GroupResource{Group: group, Resource: resource}, name, verb, resource, group))
			})
		}
	}
}
