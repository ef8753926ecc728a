package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/hacking-a-controller/03-watch/cli"
	"example.com/hacking-a-controller/testcluster"
)

func createPod(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	_, err := client.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// createNamespace creates a namespace whose name begins like this, and returns its
// name.
func createNamespace(t *testing.T, client kubernetes.Interface, prefix string) string {
	t.Helper()
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return namespace.Name
}

// lines runs the program inside the test until it ends, and returns the lines
// of its stdout as they come.
func lines(t *testing.T, args ...string) (line func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	reader, writer := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, newCommand(), args, writer, io.Discard)
		writer.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_, _ = io.Copy(io.Discard, reader)
		assert.Zero(t, <-code)
	})
	scanner := bufio.NewScanner(reader)
	return func() string {
		t.Helper()
		require.True(t, scanner.Scan(), "the program printed no further line")
		return scanner.Text()
	}
}

// TestAgainstARealServer has all that needs a server that nothing happens to.
func TestAgainstARealServer(t *testing.T) {
	c := testcluster.Shared(t)
	t.Run("each subcommand prints what comes, changes and goes", func(t *testing.T) { comesChangesGoes(t, c) })
	t.Run("-n, -A and -l choose", func(t *testing.T) { scopes(t, c) })
	t.Run("--output json has the whole object", func(t *testing.T) { wholeObject(t, c) })
	t.Run("--any watches every type", func(t *testing.T) { everyType(t, c) })
	t.Run("types that cannot be watched are refused", func(t *testing.T) { refusals(t, c) })
	t.Run("a user without rights reads what is missing", func(t *testing.T) { forbidden(t, c) })
	t.Run("runtime prints its cost", func(t *testing.T) { printsCost(t, c) })
}

func comesChangesGoes(t *testing.T, c *testcluster.Cluster) {
	for name, args := range map[string]string{"pods": "pods", "raw": "raw", "any": "pods --any=pods"} {
		t.Run(name, func(t *testing.T) {
			namespace := createNamespace(t, c.Client, name)
			createPod(t, c.Client, namespace, "before")
			line := lines(t, append(strings.Fields(args), "-n", namespace, "--kubeconfig", c.Kubeconfig)...)
			assert.Equal(t, "ADDED pod before in namespace "+namespace, line())

			createPod(t, c.Client, namespace, "after")
			assert.Equal(t, "ADDED pod after in namespace "+namespace, line())
			pods := c.Client.CoreV1().Pods(namespace)
			_, err := pods.Patch(t.Context(), "after", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
			require.NoError(t, err)
			assert.Equal(t, "MODIFIED pod after in namespace "+namespace, line())
			require.NoError(t, pods.Delete(t.Context(), "before", metav1.DeleteOptions{}))
			assert.Equal(t, "MODIFIED pod before in namespace "+namespace, line()) // it is marked first
			assert.Equal(t, "DELETED pod before in namespace "+namespace, line())
		})
	}
}

func scopes(t *testing.T, c *testcluster.Cluster) {
	one, two := createNamespace(t, c.Client, "one"), createNamespace(t, c.Client, "two")
	blue := "blue-" + rand.String(5) // -A finds those of other tests, too
	createPod(t, c.Client, one, blue)
	createPod(t, c.Client, one, "green")
	createPod(t, c.Client, two, blue)
	for _, subcommand := range []string{"pods", "raw", "pods --any=pods"} {
		args := append(strings.Fields(subcommand), "--kubeconfig", c.Kubeconfig)
		assert.Equal(t, "ADDED pod green in namespace "+one, lines(t, append(args, "-n", one, "-l", "app=green")...)())

		everywhere := lines(t, append(args, "-A", "-l", "app="+blue, "-n", "default")...)
		assert.ElementsMatch(t, []string{"ADDED pod " + blue + " in namespace " + one, "ADDED pod " + blue + " in namespace " + two},
			[]string{everywhere(), everywhere()}, subcommand)
	}
}

func wholeObject(t *testing.T, c *testcluster.Cluster) {
	namespace := createNamespace(t, c.Client, "json")
	createPod(t, c.Client, namespace, "a")
	for _, typ := range []string{"", "--any=pods"} {
		args := strings.Fields("pods -o json -n " + namespace + " " + typ)
		var event struct {
			Type   string
			Object corev1.Pod
		}
		require.NoError(t, json.Unmarshal([]byte(lines(t, append(args, "--kubeconfig", c.Kubeconfig)...)()), &event))
		assert.Equal(t, "ADDED", event.Type)
		assert.Equal(t, "Pod", event.Object.Kind)
		assert.Equal(t, "v1", event.Object.APIVersion)
		assert.Equal(t, "busybox", event.Object.Spec.Containers[0].Image)
	}
}

func everyType(t *testing.T, c *testcluster.Cluster) {
	_, err := envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{Paths: []string{filepath.Join("testdata", "berths.yaml")}, MaxTime: testcluster.TestTimeout})
	require.NoError(t, err)
	namespace := createNamespace(t, c.Client, "harbour")
	berth := []byte(`{"apiVersion":"harbour.example.com/v1","kind":"Berth","metadata":{"name":"one"}}`)
	require.NoError(t, c.Client.CoreV1().RESTClient().Post().AbsPath("/apis/harbour.example.com/v1/namespaces", namespace, "berths").
		SetHeader("Content-Type", "application/json").Body(berth).Do(t.Context()).Error())

	for _, typ := range []string{"berths", "berth", "be", "berths.harbour.example.com", "berths.v1.harbour.example.com"} {
		assert.Equal(t, "ADDED berth one in namespace "+namespace, lines(t, "pods", "-n", namespace, "--any", typ, "--kubeconfig", c.Kubeconfig)())
	}
	for _, typ := range []string{"ns", "namespaces", "Namespace"} { // -n means nothing for a type without namespaces
		assert.Equal(t, "ADDED namespace "+namespace, lines(t, "pods", "-n", "default", "--any", typ, "-l", "kubernetes.io/metadata.name="+namespace, "--kubeconfig", c.Kubeconfig)())
	}
}

func refusals(t *testing.T, c *testcluster.Cluster) {
	for typ, want := range map[string]string{
		"moons":                "error: the server does not have a resource type \"moons\"; kubectl api-resources lists those that it has\n",
		"componentstatuses":    "error: the list has no version, so this type cannot be watched; kubectl api-resources --verbs=list,watch shows those that can",
		"subjectaccessreviews": "error: this type does not have that verb; kubectl api-resources -o wide shows the verbs of each",
	} {
		_, stderr, code := watchCommand(t, "pods", "--any", typ, "--kubeconfig", c.Kubeconfig)
		assert.Contains(t, stderr, want)
		assert.Equal(t, 1, code)
	}
}

func forbidden(t *testing.T, c *testcluster.Cluster) {
	kubeconfig := c.UserKubeconfig(t, "jane")
	namespace := createNamespace(t, c.Client, "forbidden")
	sentence := func(verb string) string {
		return `error: pods is forbidden: User "jane" cannot ` + verb + ` resource "pods" in API group "" in the namespace "` + namespace + `"; ` +
			`ask an administrator for that verb on that resource` + "\n"
	}
	for _, subcommand := range []string{"pods", "pods --any=pods", "raw", "runtime"} {
		_, stderr, code := watchCommand(t, append(strings.Fields(subcommand), "-n", namespace, "--kubeconfig", kubeconfig)...)
		require.Equal(t, sentence("list"), stderr)
		assert.Equal(t, 1, code)
	}

	// A user who may list need not be allowed to watch.
	_, err := c.Client.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "lister"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.Client.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "jane"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "lister"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "jane"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	// The server learns of roles and of bindings by watches. So for a while it knows neither, and
	// then perhaps the binding and not the role.
	var stderr string
	var code int
	assert.Eventually(t, func() bool {
		_, stderr, code = watchCommand(t, "pods", "-n", namespace, "--kubeconfig", kubeconfig)
		return stderr == sentence("watch")
	}, testcluster.TestTimeout, 50*time.Millisecond)
	assert.Equal(t, sentence("watch"), stderr)
	assert.Equal(t, 1, code)
}
