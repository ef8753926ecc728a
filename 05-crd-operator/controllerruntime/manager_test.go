package controllerruntime

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cnat "example.com/hacking-a-controller/05-crd-operator/api/cnat/v1alpha1"
	"example.com/hacking-a-controller/testcluster"
)

const often = 20 * time.Millisecond

// TestOneCluster has all tests that need a server: to start one takes longer than
// they do. Each has a namespace, or a user, of its own.
func TestOneCluster(t *testing.T) {
	c := testcluster.Start(t)
	t.Run("without the CRD it does not start", func(t *testing.T) { withoutTheCRD(t, c) })
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
	t.Run("without rights it does not start", func(t *testing.T) { withoutRights(t, c) })
	t.Run("two operators in one process", func(t *testing.T) { twoOperators(t, c) })
	t.Run("two workers work at the same time", func(t *testing.T) { twoWorkers(t, c) })
}

func withoutTheCRD(t *testing.T, c *testcluster.Cluster) {
	err := Run(silent(t), c.Config, Options{})
	require.EqualError(t, err, "the cluster does not know ats; create their CRD, which is in config/crd")
}

// withoutRights takes the right away to watch what the start depends on. Package access has the others.
func withoutRights(t *testing.T, c *testcluster.Cluster) {
	for _, resource := range []string{"pods", "ats"} {
		rules := testcluster.Rules(t, "../config/rbac/controllerruntime.yaml")
		for i := range rules {
			if slices.Contains(rules[i].Resources, resource) {
				rules[i].Verbs = slices.DeleteFunc(rules[i].Verbs, func(v string) bool { return v == "watch" })
			}
		}
		err := Run(silent(t), c.User(t, "blind-to-"+resource, rules), Options{})
		require.ErrorContains(t, err, `cannot watch resource "`+resource+`"`)
		require.ErrorContains(t, err, "; ask an administrator for that verb on that resource")
	}
}

// twoOperators work in two namespaces, and each leaves the other's alone.
func twoOperators(t *testing.T, c *testcluster.Cluster) {
	one, two := newTestNamespace(t, c, "one"), newTestNamespace(t, c, "two")
	neither := newTestNamespace(t, c, "neither")
	for _, s := range []*testNamespace{neither, one, two} {
		s.createAt("yay", time.Now())
	}
	one.start(c.Config, one.namespace)
	two.start(c.Config, two.namespace)
	one.becomes("yay", cnat.Running)
	two.becomes("yay", cnat.Running)
	assert.False(t, neither.get("yay-pod", &corev1.Pod{}))

	neither.start(c.Config, metav1.NamespaceAll)
	neither.becomes("yay", cnat.Running)
}

// twoWorkers lets no pod be created before two are to be.
func twoWorkers(t *testing.T, c *testcluster.Cluster) {
	s := newTestNamespace(t, c, "workers")
	var waiting atomic.Int32
	both := make(chan struct{})
	release := sync.OnceFunc(func() { close(both) })
	config := rest.CopyConfig(c.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pods") {
				return next.RoundTrip(r)
			}
			if waiting.Add(1) == 2 {
				release()
			}
			select {
			case <-both:
				return next.RoundTrip(r)
			case <-r.Context().Done(): // the request takes too long
				waiting.Add(-1)
				return nil, r.Context().Err()
			}
		})
	})
	s.createAt("one", time.Now())
	s.createAt("two", time.Now())
	s.start(config, s.namespace)
	s.eventually("both pods are there", func() bool {
		return s.get("one-pod", &corev1.Pod{}) && s.get("two-pod", &corev1.Pod{})
	})
}

// TestAServerThatCannotBeReached needs none.
func TestAServerThatCannotBeReached(t *testing.T) {
	err := Run(silent(t), &rest.Config{Host: "http://127.0.0.1:1"}, Options{})
	require.EqualError(t, err, "http://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)")
}

func TestAConfigurationThatMakesNoSense(t *testing.T) {
	err := Run(silent(t), &rest.Config{Host: "https://moon", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nowhere"}}, Options{})
	require.EqualError(t, err, "creating a manager for https://moon: failed setting manager default options: open /nowhere: no such file or directory; repair the kubeconfig")
}

func TestToBeStoppedIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(silent(t))
	cancel()
	require.NoError(t, Run(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, Options{}))
}

// testNamespace is a namespace, and what users and kubelets do there.
type testNamespace struct {
	t         *testing.T
	namespace string
	client    client.Client // the administrator
}

func newTestNamespace(t *testing.T, c *testcluster.Cluster, name string) *testNamespace {
	types := runtime.NewScheme()
	require.NoError(t, AddToScheme(types))
	admin, err := client.New(c.Config, client.Options{Scheme: types})
	require.NoError(t, err)
	require.NoError(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	return &testNamespace{t: t, namespace: name, client: client.NewNamespacedClient(admin, name)}
}

// start runs the operator, until the function that it returns or the test ends.
func (s *testNamespace) start(config *rest.Config, namespace string) (stop func()) {
	ctx, cancel := context.WithCancel(silent(s.t))
	done := make(chan error, 1)
	go func() { done <- Run(ctx, config, Options{Namespace: namespace, Workers: 2, SkipNameValidation: true}) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(s.t, <-done)
	})
	s.t.Cleanup(stop)
	return stop
}

func (s *testNamespace) createAt(name string, schedule time.Time) {
	s.t.Helper()
	require.NoError(s.t, s.client.Create(s.t.Context(), &cnat.At{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       cnat.AtSpec{Schedule: schedule.Format(time.RFC3339), Command: "echo YAY"},
	}))
}

func (s *testNamespace) get(name string, into client.Object) bool {
	return s.client.Get(s.t.Context(), client.ObjectKey{Name: name}, into) == nil
}

func (s *testNamespace) becomes(name string, phase cnat.AtPhase) {
	s.t.Helper()
	s.eventually(name+" is "+string(phase), func() bool {
		at := &cnat.At{}
		return s.get(name, at) && at.Status.Phase == phase
	})
}

func (s *testNamespace) eventually(what string, condition func() bool) {
	s.t.Helper()
	require.Eventually(s.t, condition, testcluster.TestTimeout, often, what)
}
