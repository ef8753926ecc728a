package clientgo

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
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

// What Ats can rely on is tested in behaviour_test.go. This is what happens at the start
// and at the end.
func TestOneCluster(t *testing.T) {
	c := testcluster.Start(t)
	t.Run("without the CRD it does not start", func(t *testing.T) {
		require.EqualError(t, runOnce(t.Context(), c.Config, ""), "the cluster does not know ats; create their CRD with kubectl apply -f config/crd")
	})
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
	t.Run("without rights it does not start", func(t *testing.T) { withoutRights(t, c) })
	t.Run("an At is run, and then done", func(t *testing.T) { anAtIsRun(t, c) })
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

func anAtIsRun(t *testing.T, c *testcluster.Cluster) {
	ats := versioned.NewForConfigOrDie(c.Config).CnatV1alpha1()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	config := c.User(t, "operator", testcluster.Rules(t, "../config/rbac/clientgo.yaml"))
	go func() { ended <- runOnce(ctx, config, "default") }()
	stop := sync.OnceFunc(func() { cancel(); assert.NoError(t, <-ended) })
	t.Cleanup(stop)

	for _, namespace := range []string{"kube-public", "default"} {
		_, err := ats.Ats(namespace).Create(t.Context(), &cnat.At{ObjectMeta: metav1.ObjectMeta{Name: "bell"},
			Spec: cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: "echo YAY"}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	pods := c.Client.CoreV1().Pods("default")
	var pod *corev1.Pod
	require.Eventually(t, func() bool {
		var err error
		pod, err = pods.Get(t.Context(), "bell-pod", metav1.GetOptions{})
		return err == nil
	}, testcluster.TestTimeout, 10*time.Millisecond)
	pod.Status.Phase = corev1.PodSucceeded
	_, err := pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		at, err := ats.Ats("default").Get(t.Context(), "bell", metav1.GetOptions{})
		return err == nil && at.Status.Phase == cnat.Done
	}, testcluster.TestTimeout, 10*time.Millisecond)

	stop()
	events, err := c.Client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "regarding.kind=At"})
	require.NoError(t, err)
	var recorded []string
	for _, e := range events.Items {
		recorded = append(recorded, e.Reason+": "+e.Note)
	}
	assert.ElementsMatch(t, []string{"Started: the pod bell-pod runs the command", "Succeeded: the command has ended with exit code 0"}, recorded)

	elsewhere, err := c.Client.CoreV1().Pods("kube-public").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, elsewhere.Items, "that is not the namespace of this operator")
}
