package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
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

// TestTheExamples runs each script of examples/ with the command line that is in its second line.
func TestTheExamples(t *testing.T) {
	examples := map[string]func(*testing.T, *namespace){
		"record.sh":        recordsAddresses,
		"quota.sh":         limitsNamespaces,
		"zone.sh":          keepsZoneFiles,
		"restarts.sh":      printsRestarts,
		"notready.sh":      mailsOnce,
		"unschedulable.sh": annotatesTheOwner,
		"expose.sh":        exposesDeployments,
	}
	scripts, err := filepath.Glob("examples/*.sh")
	require.NoError(t, err)
	assert.Len(t, scripts, len(examples))
	for name, test := range examples {
		t.Run(name, func(t *testing.T) { test(t, newExample(t)) })
	}
}

func recordsAddresses(t *testing.T, n *namespace) {
	t.Setenv("FILE", filepath.Join(t.TempDir(), "services.txt"))
	n.service(t, "web", nil, 80)
	n.once(t, "record.sh")
	n.service(t, "shop", nil, 80)
	n.once(t, "record.sh")
	want := []string{n.name + "/shop " + n.clusterIP(t, "shop"), n.name + "/web " + n.clusterIP(t, "web"), ""}
	assert.Equal(t, want, strings.Split(content(os.Getenv("FILE")), "\n"), "one line for each")
}

func limitsNamespaces(t *testing.T, n *namespace) {
	for _, name := range []string{n.name, metav1.NamespaceSystem} {
		_, err := n.Client.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"quota":"default"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	n.once(t, "quota.sh")
	n.once(t, "quota.sh")
	_, err := n.Client.CoreV1().ResourceQuotas(n.name).Get(t.Context(), "default", metav1.GetOptions{})
	require.NoError(t, err)
	_, err = n.Client.CoreV1().LimitRanges(n.name).Get(t.Context(), "default", metav1.GetOptions{})
	require.NoError(t, err)
	for _, name := range []string{metav1.NamespaceSystem, metav1.NamespaceDefault} {
		_, err = n.Client.CoreV1().ResourceQuotas(name).Get(t.Context(), "default", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%s: %v", name, err)
	}
}

func keepsZoneFiles(t *testing.T, n *namespace) {
	t.Setenv("ZONES", t.TempDir())
	n.service(t, "web", nil, 80)
	n.service(t, "shop", nil, 80)
	n.once(t, "zone.sh")
	n.deleteService(t, "shop")
	n.once(t, "zone.sh")
	zones, err := filepath.Glob(os.Getenv("ZONES") + "/*")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(os.Getenv("ZONES"), "web."+n.name+".zone")}, zones)
	assert.Equal(t, "web."+n.name+".svc.example.com. 60 IN A "+n.clusterIP(t, "web")+"\n", content(zones[0]))

	require.NoError(t, exec.CommandContext(t.Context(), "examples/zone.sh", n.name, "web", "fd00:10:96::a").Run())
	assert.Equal(t, "web."+n.name+".svc.example.com. 60 IN AAAA fd00:10:96::a\n", content(zones[0]))
}

func printsRestarts(t *testing.T, n *namespace) {
	n.pod(t, "tired", nil, corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "a", RestartCount: 99}, {Name: "b", RestartCount: 2}}})
	n.pod(t, "fresh", nil, corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "a", RestartCount: 100}}})
	n.pod(t, "waiting", nil, corev1.PodStatus{})
	assert.Equal(t, "pod "+n.name+"/tired was restarted 101 times\n", n.once(t, "restarts.sh"))
}

func mailsOnce(t *testing.T, n *namespace) {
	mailbox := filepath.Join(t.TempDir(), "mail")
	t.Setenv("MAILER", "tee -a "+mailbox)
	for name, status := range map[string]corev1.ConditionStatus{"lost": corev1.ConditionUnknown, "broken": corev1.ConditionFalse, "well": corev1.ConditionTrue} {
		node, err := n.Client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name + "-" + name}}, metav1.CreateOptions{})
		require.NoError(t, err)
		since := metav1.Date(2026, 11, 27, 3, 0, 0, 0, time.UTC)
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse}, {Type: corev1.NodeReady, Status: status, LastTransitionTime: since}}
		_, err = n.Client.CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	n.once(t, "notready.sh")
	n.once(t, "notready.sh")
	want := "Subject: node %[1]s-broken is NotReady since 2026-11-27T03:00:00Z\nSubject: node %[1]s-lost is NotReady since 2026-11-27T03:00:00Z\n"
	assert.Equal(t, fmt.Sprintf(want, n.name), content(mailbox))
}

func annotatesTheOwner(t *testing.T, n *namespace) {
	n.create(t, "maker")
	full := corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available: insufficient cpu."}}}
	owner := &metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "maker", UID: "1"}
	n.pod(t, "stuck", owner, full)
	n.pod(t, "scheduled", owner, corev1.PodStatus{})
	n.pod(t, "alone", nil, full)
	n.once(t, "unschedulable.sh")
	maker, err := n.Client.CoreV1().ConfigMaps(n.name).Get(t.Context(), "maker", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "stuck: 0/3 nodes are available: insufficient cpu.", maker.Annotations["example.com/unschedulable"])
}

func exposesDeployments(t *testing.T, n *namespace) {
	labels := map[string]string{"app": "web"}
	deployments := n.Client.AppsV1().Deployments(n.name)
	_, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"example.com/port": "8080"}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "example.com/a"}}}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	n.once(t, "expose.sh")
	n.once(t, "expose.sh")
	service, err := n.Client.CoreV1().Services(n.name).Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, labels, service.Spec.Selector)
	assert.EqualValues(t, 8080, service.Spec.Ports[0].Port)

	_, err = deployments.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"annotations":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	n.once(t, "expose.sh")
	_, err = n.Client.CoreV1().Services(n.name).Get(t.Context(), "web", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), err)

	n.service(t, "web", nil, 80)
	script := exec.CommandContext(t.Context(), "examples/expose.sh", n.name, "web", "8080")
	script.Env = append(os.Environ(), "EVENT=Added")
	out, err := script.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "service/web was made by somebody else")
}

// once runs the command line of an example, and returns what it printed.
func (n *namespace) once(t *testing.T, name string, args ...string) string {
	t.Helper()
	line := strings.Split(content(filepath.Join("examples", name)), "\n")[1]
	line = strings.Replace(line, "# observe ", `"$OBSERVE" "$@" `, 1)
	args = append([]string{"-c", "cd examples && " + line, "sh", "--once", "--quiet", "--listen-addr=", "-n", n.name}, args...)
	p := startCommand(t, nil, "sh", args...)
	require.NoError(t, p.wait(), p.output())
	return p.output()
}

func (n *namespace) clusterIP(t *testing.T, service string) string {
	t.Helper()
	found, err := n.Client.CoreV1().Services(n.name).Get(t.Context(), service, metav1.GetOptions{})
	require.NoError(t, err)
	return found.Spec.ClusterIP
}

func (n *namespace) pod(t *testing.T, name string, owner *metav1.OwnerReference, status corev1.PodStatus) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "example.com/a"}}}}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	pod, err := n.Client.CoreV1().Pods(n.name).Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	pod.Status = status
	_, err = n.Client.CoreV1().Pods(n.name).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// newExample is a namespace in which the scripts find observe and kubectl.
func newExample(t *testing.T) *namespace {
	t.Helper()
	// Go's test cache sees the files that a test reads, but not those that a script runs.
	scripts, err := filepath.Glob("examples/*/*.sh")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, path := range scripts {
		require.NotEmpty(t, content(path))
	}

	n := newNamespace(t, testcluster.Shared(t))
	t.Setenv("PATH", os.Getenv("KUBEBUILDER_ASSETS")+":"+os.Getenv("PATH"))
	t.Setenv("KUBECONFIG", n.Kubeconfig)
	t.Setenv("KUBECACHEDIR", n.cacheDir)
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
