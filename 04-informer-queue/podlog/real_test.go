package podlog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"example.com/hacking-a-controller/testcluster"
)

// What is logged on a real API server, from the start to Ctrl-C.
func TestReal(t *testing.T) {
	c := testcluster.Shared(t)
	harbour := podsIn(t, c, "harbour")
	coast := podsIn(t, c, "coast")
	harbour.create("old")
	coast.create("elsewhere")

	ofHarbour := start(t, "-n", "harbour", "--kubeconfig", c.Kubeconfig)
	ofAll := start(t, "-A", "--resync=1s", "--kubeconfig", c.Kubeconfig)
	ofHarbour.logs("onAdd: harbour/old")
	ofHarbour.logs("# the cache has synced; pods in it: 1")
	ofAll.logs("# the cache has synced; pods in it: 2")

	harbour.create("new")
	ofHarbour.logs("onAdd: harbour/new")
	harbour.label("new", "one")
	ofHarbour.logs("onUpdate: harbour/new")
	version := harbour.version("new")
	ofAll.logs("onUpdate: harbour/new (resync: still version " + version + ")")
	harbour.delete("new")
	ofHarbour.logs("onDelete: harbour/new")

	ofHarbour.stop()
	ofAll.stop()
	assert.Equal(t, []string{
		"onAdd: harbour/old",
		"# the cache has synced; pods in it: 1",
		"onAdd: harbour/new",
		"onUpdate: harbour/new",
		"onUpdate: harbour/new", // marked with a deletionTimestamp
		"onDelete: harbour/new",
	}, ofHarbour.Lines(), "only its namespace, the list before the sync, and no resync")
}

// A deletion that happens while the watch is broken, and that the server has
// forgotten when it is back, is found by comparing a new list with the cache.
func TestTombstone(t *testing.T) {
	c := testcluster.Start(t)
	proxy, through := testcluster.StartProxy(t, c.Config)
	pods := podsIn(t, c, "harbour")
	for _, name := range []string{"stays", "goes", "comes-back"} {
		pods.create(name)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, bytes.Replace(c.KubeConfig, []byte(strings.TrimSuffix(c.Config.Host, "/")), []byte(through.Host), 1), 0o600))
	log := start(t, "-A", "--kubeconfig", kubeconfig)
	log.logs("# the cache has synced; pods in it: 3")
	seen := pods.version("goes")

	proxy.Refuse()
	pods.delete("goes")
	pods.delete("comes-back")
	pods.create("comes-back")
	pods.create("new")
	c.KillServer(t) // it forgets what happened so far
	pods.label("stays", "restarted")
	proxy.Allow()

	log.logs("onAdd: harbour/new") // the list has arrived
	pods.create("last")
	log.logs("onAdd: harbour/last") // and so have all events of it
	assert.Contains(t, log.Lines(), "onDelete: harbour/goes (tombstone: last seen at version "+seen+")")
	assert.Contains(t, log.Lines(), "onUpdate: harbour/comes-back (another pod of the same name)")
	assert.Contains(t, log.Lines(), "onUpdate: harbour/stays")
}

func TestRefusalsAreErrors(t *testing.T) {
	c := testcluster.Shared(t)
	nobody := c.UserKubeconfig(t, "nobody")
	nowhere := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(nowhere, []byte(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
users: [{name: test, user: {token: test}}]
current-context: test
`), 0o600))
	for kubeconfig, want := range map[string]string{
		nobody:  `pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "default"; ask an administrator for that verb on that resource`,
		nowhere: "https://127.0.0.1:1 cannot be reached; start the cluster, or choose another with --context or --kubeconfig (dial tcp 127.0.0.1:1: connect: connection refused)",
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, 1, program(t.Context(), []string{"--kubeconfig", kubeconfig}, &stdout, &stderr))
		assert.Equal(t, "error: "+want+"\n", stderr.String())
		assert.Empty(t, stdout.String())
	}
}

// running is a program in the background. It ends with the test.
type running struct {
	testcluster.Output
	t    *testing.T
	stop func()
}

// start runs the whole program.
func start(t *testing.T, args ...string) *running {
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		assert.Zero(t, program(ctx, args, r, t.Output()))
	}()
	r.stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(r.stop)
	return r
}

// logs waits for a line.
func (r *running) logs(line string) {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return slices.Contains(r.Lines(), line) }, testcluster.TestTimeout, 10*time.Millisecond, line)
}

// pods are the pods of a namespace, for a test to write. It does so again when
// the API server is not there at the moment.
type pods struct {
	typedcorev1.PodInterface
	t *testing.T
}

func podsIn(t *testing.T, c *testcluster.Cluster, namespace string) pods {
	t.Helper()
	_, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) { // the tests may run several times
		require.NoError(t, err)
	}
	p := pods{c.Client.CoreV1().Pods(namespace), t}
	// Other tests watch all namespaces.
	t.Cleanup(func() {
		assert.NoError(t, p.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	})
	return p
}

func (p pods) create(name string) {
	p.t.Helper()
	_, err := p.Create(p.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
	}, metav1.CreateOptions{})
	require.NoError(p.t, err)
}

func (p pods) label(name, value string) {
	p.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"changed":%q}}}`, value)
	require.Eventually(p.t, func() bool {
		_, err := p.Patch(p.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err == nil
	}, testcluster.TestTimeout, 20*time.Millisecond)
}

func (p pods) delete(name string) {
	p.t.Helper()
	require.NoError(p.t, p.Delete(p.t.Context(), name, metav1.DeleteOptions{}))
}

func (p pods) version(name string) string {
	p.t.Helper()
	pod, err := p.Get(p.t.Context(), name, metav1.GetOptions{})
	require.NoError(p.t, err)
	return pod.ResourceVersion
}
