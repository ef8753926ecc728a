package operator

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	preflight "example.com/hacking-a-controller/05-crd-operator/access"
	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testrights"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

var installed sync.Once // the CRD

// env is a namespace with a cluster named db, on a real API server. The test plays everything
// but the operator: the kubelet, and each member's agent. Time passes only when the operator
// says that it waits.
type env struct {
	testing.TB
	client.Client // the administrator's
	server        *testcluster.Cluster
	namespace     string
	clock         *clocktesting.FakeClock
	operator      *Reconciler         // which the test calls
	requests      testrights.Requests // of that operator
	events        *events.FakeRecorder

	mu      sync.Mutex        // guards what agents and the test change
	agents  map[string]*agent // that run, by the names of members
	all     *sync.Map         // that were started, *agent, by their addresses
	data    map[string]bool   // the members with a database on their disks
	archive *plan.Archive     // what a primary says of the archive
	asked   []string          // the members whose agents were asked, in order
}

func newEnv(t testing.TB) *env {
	t.Helper()
	return newEnvOn(t, testcluster.Shared(t), func() { installed.Do(func() { installCRD(t, testcluster.Shared(t)) }) })
}

func installCRD(t testing.TB, server *testcluster.Cluster) {
	t.Helper()
	server.InstallCRDs(t, testcluster.ReadCRDs(t, "../config/crd")...)
}

func newEnvOn(t testing.TB, server *testcluster.Cluster, install func()) *env {
	t.Helper()
	install()
	e := &env{
		TB: t, server: server, clock: clocktesting.NewFakeClock(time.Now()), events: events.NewFakeRecorder(1000),
		agents: map[string]*agent{}, all: &sync.Map{}, data: map[string]bool{},
	}
	e.Client = e.connect(server.Config)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "operator-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	namespace, err := server.Client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	require.NoError(t, err)
	e.namespace = namespace.Name
	e.restart()
	return e
}

func (e *env) connect(config *rest.Config) client.Client {
	e.Helper()
	scheme := runtime.NewScheme()
	require.NoError(e, AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper(scheme)})
	require.NoError(e, err)
	return c
}

// mapper is that of the operator's manager.
func mapper(scheme *runtime.Scheme) meta.RESTMapper {
	m, _ := preflight.Mapper(scheme)(nil, nil) // it asks no server
	return m
}

// restart replaces the operator by another one, which remembers nothing.
func (e *env) restart() {
	e.Helper()
	config := rest.CopyConfig(e.server.Config)
	e.requests.Watch(config)
	c := e.connect(config)
	e.operator = &Reconciler{
		Client: c, Live: c, Events: e.events, Clock: e.clock, Options: e.options(), agents: e.dialer(),
		backoff: flowcontrol.NewFakeBackOff(250*time.Millisecond, 10*time.Second, e.clock),
	}
}

func (e *env) options() Options {
	return Options{Namespace: e.namespace, Image: "postgres-member:17", Version: "17", ServiceType: corev1.ServiceTypeNodePort, SkipNameValidation: true}
}

// dialer is a client that reaches the agents which the test plays, whatever the addresses of
// their pods. An agent is silent only if the test says so, however busy the machine is.
func (e *env) dialer() *http.Client {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		a, found := e.all.Load(address)
		if !found {
			return nil, &net.AddrError{Err: "nobody is there", Addr: address}
		}
		return (&net.Dialer{}).DialContext(ctx, network, a.(*agent).server.Listener.Addr().String())
	}
	return &http.Client{Timeout: testcluster.TestTimeout, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
}

// lastIP makes addresses of pods, of which no two are the same.
var lastIP atomic.Int32

// start starts the agent of a pod.
func (e *env) start(pod *corev1.Pod) *agent {
	e.Helper()
	n := lastIP.Add(1)
	ip := net.IPv4(10, byte(n>>16), byte(n>>8), byte(n)).String()
	a := &agent{env: e, name: pod.Name, uid: pod.UID, ip: ip}
	a.server = httptest.NewServer(a)
	e.Cleanup(a.server.Close)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.agents[pod.Name] = a
	e.all.Store(net.JoinHostPort(ip, strconv.Itoa(int(pod.Spec.Containers[0].Ports[1].ContainerPort))), a)
	return a
}

func (e *env) key() types.NamespacedName {
	return types.NamespacedName{Namespace: e.namespace, Name: "db"}
}

// meta is that of an object of the test.
func (e *env) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: e.namespace, Name: name}
}

// create makes the cluster.
func (e *env) create(size int32) *postgres.PostgresCluster {
	e.Helper()
	cluster := &postgres.PostgresCluster{ObjectMeta: e.meta("db"), Spec: postgres.PostgresClusterSpec{Size: size}}
	require.NoError(e, e.Create(e.Context(), cluster))
	return cluster
}

// get reads an object of the namespace.
func get[T client.Object](e *env, name string, object T) T {
	e.Helper()
	require.NoError(e, e.Get(e.Context(), types.NamespacedName{Namespace: e.namespace, Name: name}, object))
	return object
}

// observe is what the operator sees now.
func (e *env) observe() observation {
	e.Helper()
	o, err := e.operator.observe(e.Context(), e.key())
	require.NoError(e, err)
	return o
}

func (e *env) cluster() *postgres.PostgresCluster {
	e.Helper()
	return get(e, "db", &postgres.PostgresCluster{})
}

func (e *env) pod(name string) *corev1.Pod {
	e.Helper()
	return get(e, name, &corev1.Pod{})
}

// restricted are containers that the Pod Security Standard of that name admits.
func restricted(image string) []corev1.Container {
	return []corev1.Container{{Name: "postgres", Image: image, SecurityContext: &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		RunAsNonRoot:             new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}}}
}

// patch changes an object of the namespace.
func (e *env) patch(object client.Object, name, patch string) {
	e.Helper()
	object.SetNamespace(e.namespace)
	object.SetName(name)
	require.NoError(e, e.Patch(e.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))))
}

func (e *env) want(patch string) {
	e.Helper()
	e.patch(&postgres.PostgresCluster{}, "db", `{"spec":`+patch+`}`)
}
