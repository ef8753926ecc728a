//go:build !try

package main

import (
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/testcluster"
)

// TestMain runs main itself when a test has started this program as the operator.
func TestMain(m *testing.M) {
	if os.Getenv("LIGHTHOUSE_RUNS_MAIN") != "" {
		main()
		return
	}
	testcluster.Main(m)
}

// coast is a namespace for restricted pods, and a client that reads from the server and counts what it writes.
type coast struct {
	*testing.T
	client.Client
	cluster *testcluster.Cluster
	writes  *int
}

func newCoast(t *testing.T) coast {
	t.Helper()
	c := testcluster.Shared(t)
	c.InstallCRDs(t, testcluster.ReadCRDs(t, "crd.yaml")...)
	addToScheme(scheme.Scheme)
	config, writes := rest.CopyConfig(c.Config), 0
	testcluster.Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if r.Method != http.MethodGet {
			writes++
		}
		return next.RoundTrip(r)
	})(config)
	live, err := client.New(config, client.Options{})
	require.NoError(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "coast-"}}
	require.NoError(t, live.Create(t.Context(), namespace))
	return coast{t, client.NewNamespacedClient(live, namespace.Name), c, &writes}
}

// light creates the sample.
func (c coast) light() *Lighthouse {
	c.Helper()
	content, err := os.ReadFile("eddystone.yaml")
	require.NoError(c, err)
	light := &Lighthouse{}
	require.NoError(c, yaml.UnmarshalStrict(content, light))
	require.NoError(c, c.Create(c.Context(), light))
	return light
}

// mustReconcile reconciles a Lighthouse once, and returns its Deployment and how much was written.
func (c coast) mustReconcile(light *Lighthouse) (*appsv1.Deployment, int) {
	c.Helper()
	before := *c.writes
	_, err := (&reconciler{c}).Reconcile(c.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(light)})
	require.NoError(c, err)
	require.NoError(c, c.Get(c.Context(), client.ObjectKeyFromObject(light), light))
	return c.deployment(light), *c.writes - before
}

func (c coast) deployment(light *Lighthouse) *appsv1.Deployment {
	c.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(c, c.Get(c.Context(), client.ObjectKeyFromObject(light), deployment))
	return deployment
}

// mustBurn gives the Deployment the status that its controller would give it, as there is none here.
func (c coast) mustBurn(deployment *appsv1.Deployment, lamps int32) {
	c.Helper()
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: lamps, UpdatedReplicas: lamps, ReadyReplicas: lamps}
	require.NoError(c, c.Status().Update(c.Context(), deployment))
}

func TestAReconcileThatChangesNothingWritesNothing(t *testing.T) {
	c := newCoast(t)
	light := c.light()
	deployment, writes := c.mustReconcile(light)
	assert.Equal(t, 2, writes, "the Deployment, and the status")
	assert.Equal(t, corev1.PullAlways, deployment.Spec.Template.Spec.Containers[0].ImagePullPolicy, "the server has filled in defaults")
	deployment.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "today"}
	require.NoError(t, c.Update(t.Context(), deployment))
	again, writes := c.mustReconcile(light)
	assert.Zero(t, writes)
	assert.Equal(t, deployment.ResourceVersion, again.ResourceVersion)
	assert.Equal(t, deployment.Spec.Template.Annotations, again.Spec.Template.Annotations, "what somebody else sets elsewhere stays")
}

// The spec changes and somebody scales the Deployment. Then somebody puts another container in front.
func TestItFollowsTheSpecAndHeals(t *testing.T) {
	c := newCoast(t)
	light := c.light()
	deployment, _ := c.mustReconcile(light)
	light.Spec = LighthouseSpec{Lamps: 2, Flash: "long long"}
	require.NoError(t, c.Update(t.Context(), light))
	deployment.Spec.Replicas = new(int32(9))
	require.NoError(t, c.Update(t.Context(), deployment))
	healed, _ := c.mustReconcile(light)
	assert.EqualValues(t, 2, *healed.Spec.Replicas)
	assert.Equal(t, "long long", healed.Spec.Template.Spec.Containers[0].Env[0].Value)
	assert.True(t, metav1.IsControlledBy(healed, light), "so that it goes with the Lighthouse")

	pod := &healed.Spec.Template.Spec
	pod.Containers = append([]corev1.Container{{Name: "other", Image: "busybox"}}, pod.Containers...)
	require.NoError(t, c.Update(t.Context(), healed))
	healed, _ = c.mustReconcile(light)
	require.Len(t, healed.Spec.Template.Spec.Containers, 1)
	assert.Equal(t, "long long", healed.Spec.Template.Spec.Containers[0].Env[0].Value)
}

func TestThePodsMayRunWhereOnlyRestrictedOnesMay(t *testing.T) {
	c := newCoast(t)
	light := c.light()
	deployment, _ := c.mustReconcile(light)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "restricted-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	created, err := c.cluster.Client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	require.NoError(t, err)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "lamp"}, Spec: deployment.Spec.Template.Spec}
	pod.Spec.AutomountServiceAccountToken = new(false) // there is no service account here
	_, err = c.cluster.Client.CoreV1().Pods(created.Name).Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestWhatTheAPIServerRefuses(t *testing.T) {
	c := newCoast(t)
	for want, spec := range map[string]LighthouseSpec{
		"spec.lamps: Invalid value: -1": {Lamps: -1, Flash: "long"},
		"spec.lamps: Invalid value: 10": {Lamps: 10, Flash: "long"},
		"spec.flash: Invalid value":     {Lamps: 1},
	} {
		err := c.Create(t.Context(), &Lighthouse{ObjectMeta: metav1.ObjectMeta{Name: "dark"}, Spec: spec})
		require.ErrorContains(t, err, want)
	}
}

func TestTheAPIServerKeepsTheFlash(t *testing.T) {
	c := newCoast(t)
	content, err := os.ReadFile("eddystone.yaml")
	require.NoError(t, err)
	stored := &unstructured.Unstructured{} // has any field
	require.NoError(t, yaml.UnmarshalStrict(content, &stored.Object))
	require.NoError(t, c.Create(t.Context(), stored))
	flash, _, err := unstructured.NestedString(stored.Object, "spec", "flash")
	require.NoError(t, err)
	require.Equal(t, "short short", flash, "the API server has dropped the flash: the schema doesn't know it")
	unstructured.RemoveNestedField(stored.Object, "spec", "flash")
	require.ErrorContains(t, c.Update(t.Context(), stored), "spec.flash: Required value", "a Lighthouse without a flash was accepted")
}

func TestAFlashIsMadeOfWords(t *testing.T) {
	c := newCoast(t)
	create := func(flash string) error {
		light := &Lighthouse{ObjectMeta: metav1.ObjectMeta{Name: "flash"}, Spec: LighthouseSpec{Lamps: 1, Flash: flash}}
		return c.Create(t.Context(), light, client.DryRunAll)
	}
	for _, wrong := range []string{"shrot", "longshort", "long  short", " long", "long ", "long,short", "short\nlong", "Long", "not long"} {
		require.ErrorContains(t, create(wrong), "a flash is made of the words long and short, such as: long short", "the flash is %q", wrong)
	}
	for _, right := range []string{"long", "short", "short long short"} {
		require.NoError(t, create(right), "the flash is %q", right)
	}
}

// The whole program, with its watches, and with the rights of its role. It is killed on the way.
func TestTheProgram(t *testing.T) {
	c := newCoast(t)
	user := "lighthouse-" + c.light().Namespace
	c.cluster.User(t, user, testcluster.Rules(t, "role.yaml"))
	kubeconfig := c.cluster.UserKubeconfig(t, user)
	start := func() *exec.Cmd {
		program := exec.Command(os.Args[0])
		program.Env = append(os.Environ(), "LIGHTHOUSE_RUNS_MAIN=yes", "KUBECONFIG="+kubeconfig)
		require.NoError(t, program.Start())
		t.Cleanup(func() { _ = program.Process.Kill() }) // if it has not ended by then
		return program
	}
	light, deployment := &Lighthouse{}, &appsv1.Deployment{}
	key := client.ObjectKey{Name: "eddystone"}
	becomes := func(what string, is func() bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			*light, *deployment = Lighthouse{}, appsv1.Deployment{}
			return c.Get(t.Context(), key, light) == nil && c.Get(t.Context(), key, deployment) == nil && is()
		}, testcluster.TestTimeout, 10*time.Millisecond, what)
	}

	program := start()
	becomes("dark", func() bool { return meta.IsStatusConditionFalse(light.Status.Conditions, "Ready") })
	c.mustBurn(deployment, 3)
	becomes("ready", func() bool {
		return meta.IsStatusConditionTrue(light.Status.Conditions, "Ready") && light.Status.Burning == 3
	})

	first := deployment.UID
	require.NoError(t, c.Delete(t.Context(), deployment))
	becomes("another Deployment", func() bool { return deployment.UID != first })

	require.NoError(t, program.Process.Kill())
	require.Error(t, program.Wait())
	second := deployment.UID
	require.NoError(t, c.Delete(t.Context(), deployment)) // nobody is told
	program = start()
	becomes("a third one", func() bool { return deployment.UID != second })

	require.NoError(t, program.Process.Signal(os.Interrupt))
	require.NoError(t, program.Wait())
}
