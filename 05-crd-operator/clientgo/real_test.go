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
	testclock "k8s.io/utils/clock/testing"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/generated/clientset/versioned"
	"example.com/hacking-a-controller/05-crd-operator/internal/testcluster"
	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// What Ats can rely on is tested in behaviour_test.go. This is only to see that
// the parts fit, and what happens at the start and at the end.

const glance = 20 * time.Millisecond

// TestOneCluster has all tests that need a server, but for those of behaviour_test.go,
// which mistreat theirs: to start one takes longer than they do.
func TestOneCluster(t *testing.T) {
	c := testcluster.Start(t)
	t.Run("without the CRD it does not start", func(t *testing.T) { withoutTheCRD(t, c) })
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
	t.Run("without rights it does not start", func(t *testing.T) { withoutRights(t, c) })
	t.Run("an At is run, and then done", func(t *testing.T) { anAtIsRun(t, c) })
}

func anAtIsRun(t *testing.T, c *testcluster.Cluster) {
	ats := versioned.NewForConfigOrDie(c.Config).CnatV1alpha1()
	client := ats.Ats("default")
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	ended := make(chan error, 1)
	config := c.User(t, "operator", testcluster.Rules(t, "../config/rbac/clientgo.yaml"))
	go func() { ended <- Run(ctx, config, Options{Namespace: "default"}) }()
	stop := sync.OnceFunc(func() { cancel(); assert.NoError(t, <-ended) })
	t.Cleanup(stop)

	for _, namespace := range []string{"kube-public", "default"} {
		_, err := ats.Ats(namespace).Create(t.Context(), &cnat.At{ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Spec: cnat.AtSpec{Schedule: "2019-04-12T10:12:00Z", Command: "echo YAY"}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	becomes := func(phase cnat.AtPhase) {
		t.Helper()
		require.EventuallyWithT(t, func(t *assert.CollectT) {
			at, err := client.Get(ctx, "a", metav1.GetOptions{})
			assert.NoError(t, err)
			assert.Equal(t, phase, at.Status.Phase)
		}, testcluster.TestTimeout, glance)
	}
	becomes(cnat.Running)

	pods := c.Client.CoreV1().Pods("default")
	var pod *corev1.Pod
	require.Eventually(t, func() (ok bool) {
		var err error
		pod, err = pods.Get(t.Context(), "a-pod", metav1.GetOptions{})
		return err == nil
	}, testcluster.TestTimeout, glance)
	pod.Status.Phase = corev1.PodSucceeded
	_, err := pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	becomes(cnat.Done)

	stop()
	events, err := c.Client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "regarding.kind=At"})
	require.NoError(t, err)
	var told []string
	for _, e := range events.Items {
		told = append(told, e.Reason+": "+e.Note)
	}
	assert.Equal(t, []string{"Started: the pod a-pod runs the command", "Succeeded: the command has ended with exit code 0"}, told)

	elsewhere, err := c.Client.CoreV1().Pods("kube-public").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, elsewhere.Items, "that is not the namespace of this operator")
}

// runInVain runs an operator that ends by itself.
func runInVain(t *testing.T, config *rest.Config) error {
	ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logr.Discard()), testcluster.TestTimeout)
	defer cancel()
	return Run(ctx, config, Options{})
}

func withoutTheCRD(t *testing.T, c *testcluster.Cluster) {
	require.EqualError(t, runInVain(t, c.Config), "the cluster does not know Ats; tell it what they are with kubectl apply -f config/crd")
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
				require.EqualError(t, runInVain(t, c.User(t, name, less)), fmt.Sprintf("%[1]s is forbidden: User %[2]q cannot %[3]s resource %[4]q in API group %[5]q at the cluster scope; ask an administrator for that verb on that resource",
					schema.GroupResource{Group: group, Resource: resource}, name, verb, resource, group))
			})
		}
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	err := Run(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, Options{})
	require.EqualError(t, err, "http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)")

	err = Run(t.Context(), &rest.Config{Host: "http://[moon"}, Options{})
	require.ErrorContains(t, err, "creating a client for http://[moon: ")
	require.ErrorContains(t, err, "; repair the kubeconfig")
}

func TestToBeStoppedAtTheStartIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, Run(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, Options{}))
}

func TestDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	assert.Equal(t, 8, o.Workers)
	assert.WithinDuration(t, time.Now(), o.Clock.Now(), time.Minute)
	assert.IsType(t, wallclock.Clock{}, o.Clock)

	clock := testclock.NewFakeClock(noon)
	assert.Equal(t, Options{Namespace: "harbour", Workers: 2, Clock: clock}, Options{Namespace: "harbour", Workers: 2, Clock: clock}.withDefaults())
}
