package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/hacking-a-controller/testcluster"
)

// TestAgainstARealServer starts one cluster for all. The subtests only read,
// but for what they make for themselves.
func TestAgainstARealServer(t *testing.T) {
	c := startCluster(t)
	fill(t, c)
	if !t.Run("a node is found", func(t *testing.T) { aNode(t, c) }) {
		return // of a program that finds nothing, there is no more to know
	}
	t.Run("a sentence for each object", func(t *testing.T) { sentences(t, c) })
	t.Run("the objects are those that kubectl finds", func(t *testing.T) { sameAsKubectl(t, c) })
	t.Run("custom resources", func(t *testing.T) { customResources(t, c) })
	t.Run("a Builder with a scheme does not get that far", func(t *testing.T) { withScheme(t, c) })
	t.Run("wrong input has its sentence", func(t *testing.T) { wrongInput(t, c) })
	t.Run("files", func(t *testing.T) { files(t, c) })
	t.Run("several documents, some of them bad", func(t *testing.T) { badDocuments(t, c) })
	t.Run("standard input", func(t *testing.T) { standardInput(t, c) })
	t.Run("nothing found is reported, and no failure", func(t *testing.T) { nothing(t, c) })
	t.Run("a user without rights reads why", func(t *testing.T) { forbidden(t, c) })
	t.Run("discovery is requested once, and cached", func(t *testing.T) { cached(t, c) })
	t.Run("a type that is gone, though cached", func(t *testing.T) { goneType(t, c) })
	t.Run("pages", func(t *testing.T) { pages(t, c) })
}

// fill makes what kubelet and controllers would.
func fill(t *testing.T, c *realCluster) {
	t.Helper()
	// The API server makes its own in the background after it is ready.
	require.Eventually(t, func() bool {
		var list corev1.NamespaceList
		return c.client.List(t.Context(), &list) == nil && len(list.Items) == 4
	}, testcluster.TestTimeout, 50*time.Millisecond)

	labels := map[string]string{"app": "web"}
	containers := []corev1.Container{{Name: "web", Image: "busybox"}}
	require.NoError(t, c.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}))
	c.create(t, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "ship"},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	})
	c.create(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "demo", Labels: labels},
		Spec:       corev1.PodSpec{Containers: containers},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "web", Ready: true, Image: "busybox", ImageID: "busybox"}}},
	})
	c.create(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "alone", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: containers},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	})
	c.create(t, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "demo", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: containers}},
		},
		Status: appsv1.DeploymentStatus{Replicas: 1, ReadyReplicas: 1, AvailableReplicas: 1},
	})
	gull := boat("gull")
	gull.Object["status"] = map[string]any{"phase": "Moored"}
	c.create(t, gull)
	require.NoError(t, c.client.Create(t.Context(), boat("heron")))
}

func aNode(t *testing.T, c *realCluster) {
	_, stderr, code := c.run("nodes")
	require.Zero(t, code, stderr)
}

func sentences(t *testing.T, c *realCluster) {
	const (
		namespaces = "default is currently Active\ndemo is currently Active\nkube-node-lease is currently Active\nkube-public is currently Active\nkube-system is currently Active\n"
		ship       = "ship is currently Ready\n"
		alone      = "alone in namespace default is currently Pending, with 0 of 1 containers ready\n"
		web1       = "web-1 in namespace demo is currently Running, with 1 of 1 containers ready\n"
		web        = "web in namespace demo is currently Unavailable, with 1 of 2 replicas\n"
	)
	tests := map[string]struct {
		args []string
		want string
	}{
		"a type":                            {[]string{"namespaces"}, namespaces},
		"its singular":                      {[]string{"namespace"}, namespaces},
		"its short name":                    {[]string{"ns"}, namespaces},
		"its kind":                          {[]string{"Namespace"}, namespaces},
		"a type with its group":             {[]string{"deployments.apps", "-n", "demo"}, web},
		"with version and group":            {[]string{"deployments.v1.apps", "-n", "demo"}, web},
		"several types":                     {[]string{"nodes,pods,deploy", "-A"}, ship + alone + web1 + web},
		"a type and names":                  {[]string{"ns", "kube-system", "default"}, "kube-system is currently Active\ndefault is currently Active\n"},
		"types with names":                  {[]string{"node/ship", "deploy/web", "-n", "demo"}, ship + web},
		"two types and a name":              {[]string{"pod,deploy", "web", "web-1", "-n", "demo", "--chunk-size=1"}, web1 + web},
		"the namespace of the context":      {[]string{"pods"}, alone},
		"another namespace":                 {[]string{"pods", "-n", "demo"}, web1},
		"all namespaces":                    {[]string{"pods", "-A"}, alone + web1},
		"a label":                           {[]string{"pods,deploy", "-A", "-l", "app=web"}, web1 + web},
		"a set of labels":                   {[]string{"pods", "-A", "-l", "app notin (web)"}, alone},
		"a field":                           {[]string{"pods", "-A", "--field-selector", "status.phase=Running"}, web1},
		"a label and a field":               {[]string{"pods", "-A", "-l", "app", "--field-selector", "status.phase!=Running"}, ""},
		"a name that is a field":            {[]string{"ns", "--field-selector", "metadata.name=demo"}, "demo is currently Active\n"},
		"a namespaced type in no namespace": {[]string{"nodes", "-n", "demo"}, ship},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := c.run(tc.args...)
			if name == "two types and a name" { // each type has only one of the names
				assert.Equal(t, 1, code)
				assert.Equal(t, sortedLines(tc.want), sortedLines(stdout))
				return
			}
			assert.Equal(t, 0, code, stderr)
			assert.Equal(t, tc.want, stdout)
		})
	}
}

// sameAsKubectl compares what is found and in which order, not how it is printed.
func sameAsKubectl(t *testing.T, c *realCluster) {
	folder := t.TempDir()
	write(t, folder, "one.yaml", manifest("v1", "Namespace", "demo"))
	write(t, folder, "two.json", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"demo"}},{"apiVersion":"v1","kind":"Pod","metadata":{"name":"alone"}}]}`)
	write(t, folder, "deeper/three.yml", manifest("v1", "Node", "ship"))
	write(t, folder, "notes.txt", "not a manifest")

	for _, args := range [][]string{
		{"all", "-A"},
		{"boats"},
		{"boats.harbour.example.com", "gull"},
		{"boat/heron", "node/ship"},
		{"crd"},
		{"clusterroles", "--chunk-size=7"},
		{"ns,no,po,deploy", "-A"},
		{"po", "-A", "-l", "app in (web, mail)"},
		{"-f", folder},
		{"-f", folder, "-R"},
		{"-f", folder, "-R", "-l", "app=web"},
		{"-f", filepath.Join(folder, "one.yaml"), "-f", filepath.Join(folder, "two.json")},
	} {
		t.Run(strings.ReplaceAll(strings.Join(args, " "), folder, "DIR"), func(t *testing.T) {
			var want, got []string
			for name := range strings.Lines(c.kubectl(t, append([]string{"get", "-o", "name"}, args...)...)) {
				_, name, _ = strings.Cut(strings.TrimSpace(name), "/")
				want = append(want, name)
			}
			stdout, stderr, code := c.run(append(args, "--unstructured")...)
			require.Equal(t, 0, code, stderr)
			for line := range strings.Lines(stdout) {
				got = append(got, strings.TrimSuffix(strings.Fields(line)[1], ":"))
			}
			assert.NotEmpty(t, got)
			assert.Equal(t, want, got)
		})
	}
}

func customResources(t *testing.T, c *realCluster) {
	stdout, stderr, code := c.run("boats")
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Equal(t, "error: unknown type Boat: there is no sentence for it; print its generic fields with --unstructured\n", stderr, "two boats, one error")

	stdout, stderr, code = c.run("boats", "--unstructured")
	assert.Equal(t, 0, code)
	assert.Empty(t, stderr)
	assert.Equal(t, "Boat gull in namespace default is currently Moored\nBoat heron in namespace default has neither phase nor conditions\n", stdout)

	// A kind without a sentence does not keep the others away.
	stdout, stderr, code = c.run("boats,nodes,crd,pods")
	assert.Equal(t, 1, code)
	assert.Equal(t, "ship is currently Ready\nalone in namespace default is currently Pending, with 0 of 1 containers ready\n", stdout)
	assert.Equal(t, "error: unknown type Boat: there is no sentence for it; print its generic fields with --unstructured\n"+
		"error: unknown type CustomResourceDefinition: there is no sentence for it; print its generic fields with --unstructured\n", stderr)
}

// withScheme proves the comment of toTyped on the other way.
func withScheme(t *testing.T, c *realCluster) {
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &c.Kubeconfig
	visited := 0
	err := resource.NewBuilder(flags).
		WithScheme(scheme.Scheme, scheme.Scheme.PrioritizedVersionsAllGroups()...).
		NamespaceParam("default").DefaultNamespace().
		ResourceTypeOrNameArgs(true, "boats").
		ContinueOnError().Flatten().Do().
		Visit(func(*resource.Info, error) error { visited++; return nil })
	require.ErrorContains(t, err, `no kind "BoatList" is registered`)
	assert.Zero(t, visited)
}

func wrongInput(t *testing.T, c *realCluster) {
	notYAML := writeFile(t, "poem.yaml", "A boat: a boat: a boat\n")
	text := writeFile(t, "text.yaml", "only a text\n")
	folder := t.TempDir()
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown type":               {[]string{"podz"}, `the server doesn't have a resource type "podz"; kubectl api-resources shows those that it has`},
		"an unknown custom type":        {[]string{"boots"}, `the server doesn't have a resource type "boots"; kubectl api-resources shows those that it has`},
		"an unknown type, and a known":  {[]string{"pods,podz"}, `the server doesn't have a resource type "podz"; kubectl api-resources shows those that it has`},
		"an unknown type with a name":   {[]string{"podz/web"}, `the server doesn't have a resource type "podz"; kubectl api-resources shows those that it has`},
		"a type like no other":          {[]string{"lighthouses"}, `the server doesn't have a resource type "lighthouses"; kubectl api-resources shows those that it has`},
		"a type that is empty":          {[]string{""}, `the server doesn't have a resource type ""; kubectl api-resources shows those that it has`},
		"a name that is not there":      {[]string{"ns", "moon"}, `namespaces "moon" not found; see which there are: resource-builder namespaces -A --unstructured`},
		"a boat that is not there":      {[]string{"boat/moon"}, `boats.harbour.example.com "moon" not found; see which there are: resource-builder boats.harbour.example.com -A --unstructured`},
		"a namespace that is not there": {[]string{"pod", "web", "-n", "moon"}, `namespaces "moon" not found; see which there are: resource-builder namespaces -A --unstructured`},
		"a field that nobody knows": {[]string{"pods", "--field-selector", "spec.foo=bar"},
			`Unable to find "/v1, Resource=pods" that match label selector "", field selector "spec.foo=bar": field label not supported: spec.foo; ` +
				`correct -l or --field-selector (each kind has metadata.name and metadata.namespace, and few more)`},
		"TYPE/":                     {[]string{"pods/"}, `arguments in resource/name form must have a single resource and name; write TYPE/NAME`},
		"a slash too many":          {[]string{"pods/web/1"}, `arguments in resource/name form may not have more than one slash; write TYPE/NAME`},
		"a file that is not there":  {[]string{"-f", "/nowhere.yaml"}, `the path "/nowhere.yaml" does not exist; correct -f`},
		"a folder without files":    {[]string{"-f", folder}, `error reading [` + folder + `]: recognized file extensions are [.json .yaml .yml]; name the file itself, or search deeper with -R`},
		"a file that is not YAML":   {[]string{"-f", notYAML}, `error parsing ` + notYAML + `: error converting YAML to JSON: yaml: mapping values are not allowed in this context; correct the YAML there; what follows it in the file was not read`},
		"YAML that is no object":    {[]string{"-f", text}, `unable to decode "` + text + `": json: cannot unmarshal string into Go value of type unstructured.detector; each document needs apiVersion, kind and metadata.name`},
		"the standard input, twice": {[]string{"-f", "-", "-f", "-"}, `standard input cannot be used for multiple arguments; write -f - only once`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := c.run(tc.args...)
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			assert.Equal(t, "error: "+tc.want+"\n", stderr)
		})
	}
}

// files shows that -f names objects, and that the server has them.
func files(t *testing.T, c *realCluster) {
	// The state that the file has is not what is printed.
	web := writeFile(t, "web.yaml", manifest("v1", "Pod", "web-1")+"  namespace: demo\nstatus: {phase: Failed}\n")
	stdout, stderr, code := c.run("-f", web)
	assert.Equal(t, 0, code, stderr)
	assert.Equal(t, "web-1 in namespace demo is currently Running, with 1 of 1 containers ready\n", stdout)

	_, stderr, code = c.run("-f", web, "-n", "default")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `the namespace from the provided object "demo" does not match the namespace "default"`)

	nowhere := writeFile(t, "alone.yaml", manifest("v1", "Pod", "alone"))
	stdout, _, code = c.run("-f", nowhere)
	assert.Equal(t, 0, code)
	assert.Contains(t, stdout, "alone in namespace default is currently Pending")
	_, stderr, code = c.run("-f", nowhere, "-A")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "; set metadata.namespace, or use -n in place of -A\n")
}

func badDocuments(t *testing.T, c *realCluster) {
	path := writeFile(t, "mixed.yaml", strings.Join([]string{
		manifest("v1", "Namespace", "default"),
		manifest("v1", "Namespace", "moon"),
		"hello: world\n",
		manifest("example.com/v1", "Widget", "w"),
		"apiVersion: v1\nkind: Namespace\n",
		manifest("v1", "Namespace", "demo"),
		manifest("v1", "List", "of") + "items: [{apiVersion: v1, kind: Nope, metadata: {name: x}}, {apiVersion: v1, kind: Node, metadata: {name: ship}}]\n",
		"a: [\n",
		manifest("v1", "Namespace", "kube-system"),
	}, "---\n"))
	after := writeFile(t, "after.yaml", manifest("v1", "Namespace", "kube-public"))

	stdout, stderr, code := c.run("-f", path, "-f", after)
	assert.Equal(t, 1, code)
	assert.Equal(t, "default is currently Active\ndemo is currently Active\nship is currently Ready\nkube-public is currently Active\n", stdout)
	assert.Equal(t, sortedLines(strings.ReplaceAll(
		`error: namespaces "moon" not found; see which there are: resource-builder namespaces -A --unstructured
error: unable to decode "FILE": Object 'Kind' is missing in '{"hello":"world"}'; each document needs apiVersion, kind and metadata.name
error: resource mapping not found for name: "w" namespace: "" from "FILE": no matches for kind "Widget" in version "example.com/v1"; correct apiVersion and kind, or install its CustomResourceDefinition first
error: an object in FILE has no metadata.name, so it cannot be looked up; give it one
error: unable to recognize no matches for kind "Nope" in version "v1"; correct apiVersion and kind, or install its CustomResourceDefinition first
error: error parsing FILE: error converting YAML to JSON: yaml: line 1: did not find expected node content; correct the YAML there; what follows it in the file was not read
`, "FILE", path)), sortedLines(stderr))
}

func standardInput(t *testing.T, c *realCluster) {
	program, stderr := command(t, "-f", "-", "--kubeconfig", c.Kubeconfig)
	program.Stdin = strings.NewReader(manifest("v1", "Namespace", "demo") + "---\n" + manifest("v1", "Node", "ship"))
	stdout, err := program.Output()
	require.NoError(t, err, stderr.String())
	assert.Equal(t, "demo is currently Active\nship is currently Ready\n", string(stdout))

	program, stderr = command(t, "-f", "-", "--kubeconfig", c.Kubeconfig)
	program.Stdin = strings.NewReader("hello")
	require.Error(t, program.Run())
	assert.Equal(t, 1, program.ProcessState.ExitCode())
	assert.Contains(t, stderr.String(), `error: unable to decode "STDIN": `)
}

func nothing(t *testing.T, c *realCluster) {
	const elsewhere = "no resources found in this namespace; choose another with -n, or all with -A\n"
	tests := map[string]struct {
		args []string
		want string
	}{
		"in a namespace":      {[]string{"pods", "-n", "kube-public"}, elsewhere},
		"in one that is not":  {[]string{"pods", "-n", "moon"}, elsewhere},
		"in all namespaces":   {[]string{"pods", "-A", "-l", "app=none"}, "no resources found\n"},
		"of a type without":   {[]string{"nodes", "-l", "app=none"}, "no resources found\n"},
		"in a file":           {[]string{"-f", writeFile(t, "empty.yaml", "# nothing\n")}, "no resources found\n"},
		"with such a label":   {[]string{"pods", "-l", "app=none"}, elsewhere},
		"in a page of no one": {[]string{"pods", "-l", "app=none", "--chunk-size=0"}, elsewhere},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := c.run(tc.args...)
			assert.Equal(t, 0, code)
			assert.Empty(t, stdout)
			assert.Equal(t, tc.want, stderr)
		})
	}
}

func forbidden(t *testing.T, c *realCluster) {
	kubeconfig := c.UserKubeconfig(t, "jane")
	stdout, stderr, code := resourceBuilder("pods,boats", "--kubeconfig", kubeconfig)
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Equal(t, `error: pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"; ask an administrator for that verb on that resource
error: boats.harbour.example.com is forbidden: User "jane" cannot list resource "boats" in API group "harbour.example.com" in the namespace "default"; ask an administrator for that verb on that resource
`, stderr)
}

func cached(t *testing.T, c *realCluster) {
	o := c.observe(t)
	list := []string{"/api/v1/nodes"}
	for name, want := range []([]string){append([]string{"/api", "/apis"}, list...), list} {
		_, stderr, code := resourceBuilder("nodes", "--kubeconfig", o.kubeconfig)
		require.Equal(t, 0, code, stderr)
		assert.Equal(t, want, o.take(), "run %d", name+1)
	}

	// A type that is not in the cache may be a new one.
	_, _, code := resourceBuilder("lighthouses", "--kubeconfig", o.kubeconfig)
	assert.Equal(t, 1, code)
	assert.Equal(t, []string{"/api", "/apis"}, o.take())
}

func goneType(t *testing.T, c *realCluster) {
	crd := c.CRDs[0].DeepCopy()
	crd.ObjectMeta = metav1.ObjectMeta{Name: "rafts.harbour.example.com"}
	crd.Spec.Names.Plural, crd.Spec.Names.Singular, crd.Spec.Names.Kind, crd.Spec.Names.ListKind = "rafts", "raft", "Raft", "RaftList"
	crd.Status.Conditions = nil
	require.NoError(t, c.client.Create(t.Context(), crd))
	require.Eventually(t, func() bool {
		_, _, code := c.run("rafts")
		return code == 0
	}, testcluster.TestTimeout, 50*time.Millisecond, "a type that is new is found, though discovery was cached")

	require.NoError(t, c.client.Delete(t.Context(), crd))
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		_, stderr, code := c.run("rafts")
		assert.Equal(collect, 1, code)
		assert.Contains(collect, stderr, "; if the type was removed, discovery's cache still has it: delete ~/.kube/cache/discovery\n")
	}, testcluster.TestTimeout, 50*time.Millisecond)
}

func pages(t *testing.T, c *realCluster) {
	const n = 501
	for i := range n {
		err := c.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("map-%04d", i), Namespace: "demo"}})
		require.False(t, err != nil && !apierrors.IsAlreadyExists(err), err)
	}
	o := c.observe(t)
	args := []string{"configmaps", "-n", "demo", "--unstructured", "--kubeconfig", o.kubeconfig}
	tests := map[string]struct {
		flags []string
		want  int
	}{
		"500 at once unless told otherwise": {nil, 2},
		"100 at once":                       {[]string{"--chunk-size=100"}, 6},
		"all at once":                       {[]string{"--chunk-size=0"}, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, code := resourceBuilder(append(args, tc.flags...)...)
			require.Equal(t, 0, code, stderr)
			assert.Equal(t, n, strings.Count(stdout, "\n"))
			requests := 0
			for _, path := range o.take() {
				if path == "/api/v1/namespaces/demo/configmaps" {
					requests++
				}
			}
			assert.Equal(t, tc.want, requests)
		})
	}
}

func manifest(apiVersion, kind, name string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", apiVersion, kind, name)
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}
