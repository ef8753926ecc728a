package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/testcluster"
)

// TestTheIngressExample runs the scripts in examples/ingress as the lesson does:
// observe as a process, and the real kubectl.
func TestTheIngressExample(t *testing.T) {
	n := newExample(t)
	n.service(t, "web", map[string]string{"expose": "yes"}, 80)
	n.service(t, "shop", map[string]string{"expose": "yes"}, 8080)
	n.service(t, "internal", nil, 80)
	n.foreignIngress(t, "theirs")
	first := n.example(t)
	eventually(t, func() bool { return assert.ObjectsAreEqual([]string{"shop", "web"}, n.ingresses(t)) }, first.output)

	// While it runs: one is created, one deleted, one changed.
	n.service(t, "blog", map[string]string{"expose": "yes"}, 80)
	n.deleteService(t, "shop")
	n.annotate(t, "web", "www.example.org")
	eventually(t, func() bool {
		return assert.ObjectsAreEqual([]string{"blog", "web"}, n.ingresses(t)) && n.host(t, "web") == "www.example.org"
	}, first.output)
	require.NoError(t, first.Process.Signal(os.Interrupt))
	require.NoError(t, first.wait(), first.output())

	// While it is down: the same.
	n.service(t, "wiki", map[string]string{"expose": "yes"}, 9000)
	n.deleteService(t, "blog")
	n.annotate(t, "web", "www.example.net")
	second := n.example(t, "--once")
	require.NoError(t, second.wait(), second.output())
	assert.Equal(t, []string{"web", "wiki"}, n.ingresses(t))
	assert.Equal(t, "www.example.net", n.host(t, "web"))
	assert.Equal(t, "wiki."+n.name+".example.com", n.host(t, "wiki"))

	// What another user has made is left alone, and that is an error.
	n.service(t, "theirs", map[string]string{"expose": "yes"}, 80)
	third := n.example(t, "--once", "--maximum-errors=1")
	require.Error(t, third.wait())
	assert.Contains(t, third.output(), "ingress "+n.name+"/theirs was made by somebody else; rename it, or the service")
	n.deleteService(t, "theirs")
	fourth := n.example(t, "--once")
	require.NoError(t, fourth.wait(), fourth.output())
	assert.Equal(t, "theirs.example.com", n.host(t, "theirs"))
}

// A user who may annotate a Service must not write manifests with the rights of observe.
func TestAnAnnotationIsNoManifest(t *testing.T) {
	n := newExample(t)
	for name, host := range map[string]string{
		"manifest": "a.example.org\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: planted}}\n---\nkind: List\napiVersion: v1\nitems: []\nx:\n- x",
		"fields":   "a.example.org, http: {paths: []}}",
		"rule":     "a.example.org/*=other:80,tls=x",
		"quotes":   `"a" $(touch planted)`,
		"space":    "a b",
	} {
		n.service(t, name, map[string]string{"expose": "yes"}, 80)
		n.annotate(t, name, host)
	}
	n.service(t, "good", map[string]string{"expose": "yes"}, 80)
	p := n.example(t, "--once")
	require.Error(t, p.wait())
	assert.Contains(t, p.output(), "service "+n.name+"/manifest: the annotation example.com/host is no host name;")
	assert.Equal(t, []string{"good"}, n.ingresses(t))
	for _, namespace := range []string{n.name, metav1.NamespaceDefault} {
		_, err := n.Client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "planted", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%s: %v", namespace, err)
	}
}

// newExample is a namespace in which the scripts find observe and kubectl.
func newExample(t *testing.T) *namespace {
	t.Helper()
	// Go's test cache sees the files that a test reads, but not those that a script runs.
	scripts, err := filepath.Glob("examples/ingress/*.sh")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, path := range scripts {
		require.NotEmpty(t, content(path))
	}

	n := newNamespace(t, testcluster.Shared(t))
	t.Setenv("PATH", os.Getenv("KUBEBUILDER_ASSETS")+":"+os.Getenv("PATH"))
	t.Setenv("KUBECONFIG", n.kubeconfig)
	t.Setenv("OBSERVE", os.Args[0])
	t.Setenv(asProgram, "observe")
	return n
}

func (n *namespace) example(t *testing.T, args ...string) *process {
	t.Helper()
	return startCommand(t, nil, filepath.Join("examples", "ingress", "run.sh"), append([]string{"-n", n.name, "--listen-addr="}, args...)...)
}

func (n *namespace) service(t *testing.T, name string, labels map[string]string, port int32) {
	t.Helper()
	_, err := n.Client.CoreV1().Services(n.name).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: port}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (n *namespace) deleteService(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, n.Client.CoreV1().Services(n.name).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

func (n *namespace) annotate(t *testing.T, service, host string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/host":%q}}}`, host)
	_, err := n.Client.CoreV1().Services(n.name).Patch(t.Context(), service, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(t, err)
}

// foreignIngress makes one that is not ours.
func (n *namespace) foreignIngress(t *testing.T, name string) {
	t.Helper()
	_, err := n.Client.NetworkingV1().Ingresses(n.name).Create(t.Context(), &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: name + ".example.com"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// ingresses are the names of ours.
func (n *namespace) ingresses(t *testing.T) []string {
	t.Helper()
	list, err := n.Client.NetworkingV1().Ingresses(n.name).List(t.Context(), metav1.ListOptions{LabelSelector: "made-by=observe"})
	require.NoError(t, err)
	names := map[string]bool{}
	for _, ingress := range list.Items {
		names[ingress.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func (n *namespace) host(t *testing.T, name string) string {
	t.Helper()
	ingress, err := n.Client.NetworkingV1().Ingresses(n.name).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return ingress.Spec.Rules[0].Host
}
