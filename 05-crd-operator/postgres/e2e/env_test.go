package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	postgres "example.com/hacking-a-controller/05-crd-operator/postgres/api/v1alpha1"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
	"example.com/hacking-a-controller/testcluster"
)

// pause is how long a test waits until it asks again: to ask costs the cluster, too, and on two
// cores whatever the test takes is missing where it waits.
const pause = 200 * time.Millisecond

// timeout is a flag of kubectl.
var timeout = "--timeout=" + testcluster.TestTimeout.String()

// name is that of all PostgresClusters here. Each has a namespace of its own.
const name = "db"

// env is a namespace with a PostgresCluster and the operator that runs it.
type env struct {
	testing.TB
	*lab
	namespace string
	folder    string
	image     string           // of the operator
	operator  *operatorProcess // nil while there is none
}

// newEnv makes a namespace, and starts its operator.
func newEnv(t testing.TB) *env {
	t.Helper()
	e := &env{TB: t, lab: sharedLab(t), folder: t.TempDir()}
	e.image = e.lab.image
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "postgres-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	require.NoError(t, e.client.Create(t.Context(), namespace))
	e.namespace = namespace.Name
	e.createUser()
	t.Cleanup(func() { e.stopOperator() })
	t.Cleanup(func() {
		if t.Failed() {
			e.logEverything()
		}
	})
	e.startOperator()
	return e
}

// newCluster creates a cluster of three members, and waits until it is as it should be.
func newCluster(t testing.TB) *env {
	t.Helper()
	e := newEnv(t)
	e.create(name, postgres.PostgresClusterSpec{Size: 3})
	e.settles()
	return e
}

// createUser makes a service account that has the rights of the operator in this namespace,
// and a kubeconfig for it.
func (e *env) createUser() {
	e.Helper()
	e.kubectl("create", "serviceaccount", "operator")
	e.kubectl("create", "rolebinding", "operator", "--clusterrole=postgres-operator", "--serviceaccount="+e.namespace+":operator")
	kubeconfig, err := clientcmd.LoadFromFile(e.kubeconfig())
	require.NoError(e, err)
	for _, user := range kubeconfig.AuthInfos {
		user.ClientCertificateData, user.ClientKeyData = nil, nil
		user.ClientCertificate, user.ClientKey = "", ""
		user.Token = strings.TrimSpace(e.kubectl("create", "token", "operator"))
	}
	require.NoError(e, clientcmd.WriteToFile(*kubeconfig, e.operatorKubeconfig()))
}

func (e *env) operatorKubeconfig() string { return filepath.Join(e.folder, "kubeconfig") }

// kubectl runs it in the namespace, as people do, and returns what it prints.
func (e *env) kubectl(args ...string) string {
	e.Helper()
	output, err := e.output("kubectl", append([]string{"--namespace", e.namespace}, args...)...)
	require.NoError(e, err)
	return output
}

func (e *env) create(name string, spec postgres.PostgresClusterSpec) {
	e.Helper()
	meta := metav1.ObjectMeta{Namespace: e.namespace, Name: name}
	require.NoError(e, e.client.Create(e.Context(), &postgres.PostgresCluster{ObjectMeta: meta, Spec: spec}))
}

// patch changes the spec.
func (e *env) patch(spec string) {
	e.Helper()
	cluster := &postgres.PostgresCluster{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}}
	require.NoError(e, e.client.Patch(e.Context(), cluster, client.RawPatch(types.MergePatchType, []byte(`{"spec":{`+spec+`}}`))))
}

// cluster returns it as it is now.
func (e *env) cluster() (*postgres.PostgresCluster, error) {
	cluster := &postgres.PostgresCluster{}
	return cluster, e.client.Get(e.Context(), client.ObjectKey{Namespace: e.namespace, Name: name}, cluster)
}

// status returns that of the cluster, whose API server is up.
func (e *env) status() postgres.PostgresClusterStatus {
	e.Helper()
	cluster, err := e.cluster()
	require.NoError(e, err)
	return cluster.Status
}

// list lists what belongs to the cluster.
func (e *env) list(ctx context.Context, list client.ObjectList) error {
	return e.client.List(ctx, list, client.InNamespace(e.namespace), client.MatchingLabels{plan.SelectorLabel: name})
}

// uids are those of all pods, or disks, by their names.
func (e *env) uids(list client.ObjectList) map[string]types.UID {
	e.Helper()
	require.NoError(e, e.list(e.Context(), list))
	uids := map[string]types.UID{}
	switch list := list.(type) {
	case *corev1.PodList:
		for _, pod := range list.Items {
			uids[pod.Name] = pod.UID
		}
	case *corev1.PersistentVolumeClaimList:
		for _, disk := range list.Items {
			uids[disk.Name] = disk.UID
		}
	}
	return uids
}

func (e *env) pods() map[string]types.UID { e.Helper(); return e.uids(&corev1.PodList{}) }
func (e *env) disks() map[string]types.UID {
	e.Helper()
	return e.uids(&corev1.PersistentVolumeClaimList{})
}

// logEverything logs what a person would look at first.
func (e *env) logEverything() {
	for _, args := range [][]string{
		{"get", "postgresclusters,pods,persistentvolumeclaims,leases"},
		{"get", "postgresclusters", "-o", "yaml"},
		{"get", "events", "--sort-by=.metadata.creationTimestamp"},
		{"logs", "--selector=" + plan.SelectorLabel + "=" + name, "--prefix", "--tail=100", "--ignore-errors"},
	} {
		output, err := e.output("kubectl", append([]string{"--namespace", e.namespace}, args...)...)
		e.Logf("kubectl %v: %v\n%s", args, err, output)
	}
	e.Logf("the operator's log:\n%s", e.operatorLog())
}

// eventually waits until check returns no error.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.After(2 * testcluster.TestTimeout) // a cluster that recovers may have to do so twice
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			require.FailNow(t, "waited in vain until "+what, "%v", err)
		case <-time.After(pause):
		}
	}
}
