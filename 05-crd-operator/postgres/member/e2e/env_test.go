package e2e

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/internal/testpostgres"
	"example.com/hacking-a-controller/05-crd-operator/postgres/member"
	"example.com/hacking-a-controller/05-crd-operator/postgres/operator"
	"example.com/hacking-a-controller/testcluster"
)

// asAgent is the variable that makes this test program the agent. Agents have to be processes
// here, since some are killed and frozen.
const asAgent = "TEST_AS_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) != "" {
		cli.Main(member.Command())
	}
	testcluster.Main(m)
}

var installed sync.Once // the CRD

// env is a cluster whose status a test writes, in the place of the operator, and its agents.
type env struct {
	testing.TB
	client    client.WithWatch
	namespace string
	programs  string
	folder    string              // which the user that runs the agents may read
	rules     []rbacv1.PolicyRule // what an agent may do
	config    *rest.Config        // of an agent
	agents    map[string]*agent   // the present ones
	bundle    []byte              // the CAs that clients trust
	addresses map[string]string   // that are wrong in the status
	backup    string              // the folder of the backups, if there are any
	flags     []string            // more of them, for agents
	variables []string            // of the environments of agents, too
	storage   resource.Quantity   // of each disk
	full      string              // whose disk is nearly full, in the status
	down      string              // whose pod finds no node
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := newNamespace(t)
	meta := metav1.ObjectMeta{Namespace: e.namespace, Name: "db"}
	require.NoError(t, e.client.Create(t.Context(), &postgres.PostgresCluster{ObjectMeta: meta, Spec: postgres.PostgresClusterSpec{Size: 3}}))
	require.NoError(t, e.client.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: meta}))
	return e
}

// newNamespace has no cluster yet.
func newNamespace(t testing.TB) *env {
	t.Helper()
	e := &env{TB: t, programs: testpostgres.Find(t).Bin, agents: map[string]*agent{}}
	server := testcluster.Shared(t)
	installed.Do(func() { server.InstallCRDs(t, testcluster.ReadCRDs(t, "../../config/crd")...) })
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(postgres.AddToScheme, corev1.AddToScheme, coordinationv1.AddToScheme)
	require.NoError(t, builder.AddToScheme(scheme))
	var err error
	e.client, err = client.NewWithWatch(server.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "member-"}}
	require.NoError(t, e.client.Create(t.Context(), namespace))
	e.namespace = namespace.Name
	e.rules = operator.MemberRules(&postgres.PostgresCluster{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "db"}})
	e.config = server.User(t, e.namespace, e.rules)

	e.folder, err = os.MkdirTemp("", "member-") //nolint:usetesting // t.TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(e.folder)) })
	e.own(e.folder)
	e.writeSecrets()
	return e
}

// writeFile writes a file for the agents.
func (e *env) writeFile(name, content string) string {
	e.Helper()
	path := filepath.Join(e.folder, name)
	for folder := filepath.Dir(path); folder != e.folder; folder = filepath.Dir(folder) {
		require.NoError(e, os.MkdirAll(folder, 0o700))
		e.own(folder)
	}
	require.NoError(e, os.WriteFile(path, []byte(content), 0o600))
	e.own(path)
	return path
}

// own gives a file to the user that runs the agents.
func (e *env) own(path string) {
	e.Helper()
	if os.Geteuid() == 0 {
		require.NoError(e, os.Chown(path, nobody, nobody))
	}
}

// kubeconfig writes a file that leads agents to the API server.
func (e *env) kubeconfig(name string, config *rest.Config) string {
	e.Helper()
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"test": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"test": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		CurrentContext: "test",
	})
	require.NoError(e, err)
	return e.writeFile(name, string(content))
}

// pause is how long a test waits until it asks again. A question costs the agents, too, and the tests
// have two cores for all of them.
const pause = 100 * time.Millisecond

// eventually waits until it is so.
func (e *env) eventually(is func() bool, message string, args ...any) {
	e.Helper()
	require.Eventuallyf(e, is, testcluster.TestTimeout, pause, message, args...)
}

// holder is the UID that the Lease has.
func (e *env) holder() string {
	e.Helper()
	lease := &coordinationv1.Lease{}
	require.NoError(e, e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: "db"}, lease))
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
