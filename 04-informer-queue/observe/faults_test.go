package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/hacking-a-controller/testcluster"
)

// Each test here does something terrible between observe and a real API server
// while ConfigMaps come, change and go. A script keeps a diary of what it has
// handled; in the end it must have what the server has.

func TestTheVersionIsGone(t *testing.T) {
	// Without its cache, the API server forwards a watch to etcd, which has nothing
	// from before a compaction.
	c := testcluster.Start(t, "watch-cache-sizes=configmaps#0")
	t.Run("what was missed is reported", func(t *testing.T) { missedIsReported(t, c) })
	t.Run("--names runs again", func(t *testing.T) { namesRunAgain(t, c) })
}

func missedIsReported(t *testing.T, c *testcluster.Cluster) {
	n := newNamespace(t, c)
	proxy, through := testcluster.StartProxy(t, n.Config)
	n.kubeconfig = kubeconfigFor(t, through)
	n.create(t, "again", "goes", "stays", "changes")
	d := newDiary(t)
	r := start(t, n.args(d.args(t)...)...)
	d.isTrue(t, n, r.both)
	require.Len(t, events(r.stdout.String()), 4)

	proxy.Refuse()
	n.delete(t, "again")
	n.delete(t, "goes")
	n.create(t, "again", "comes")
	n.set(t, "changes", "x", "1")
	compact(t, c)
	proxy.Allow()
	d.isTrue(t, n, r.both)
	assert.Equal(t, 0, r.end())

	// What was missed is reported, and nothing else: stays is not.
	var reported []string
	for _, event := range events(r.stdout.String())[4:] {
		words := strings.Fields(event)
		reported = append(reported, words[0]+" "+words[3])
	}
	assert.ElementsMatch(t, []string{"Deleted again", "Added again", "Deleted goes", "Added comes", "Updated changes"}, reported)
}

func namesRunAgain(t *testing.T, c *testcluster.Cluster) {
	n := newNamespace(t, c)
	proxy, through := testcluster.StartProxy(t, n.Config)
	n.kubeconfig = kubeconfigFor(t, through)
	d, r := n.startDiary(t)

	// There is a trace of an object that never existed.
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "never-was"), nil, 0o600))
	proxy.Refuse()
	n.set(t, "first", "x", "1")
	compact(t, c)
	proxy.Allow()
	d.isTrue(t, n, r.both)
	assert.Equal(t, 0, r.end())
}

// startDiary starts an observe that keeps a diary, and waits until it works: at its
// start, a server that does not answer is an error.
func (n *namespace) startDiary(t *testing.T) (diary, *running) {
	t.Helper()
	n.create(t, "first")
	d := newDiary(t)
	r := start(t, n.args(d.args(t)...)...)
	d.isTrue(t, n, r.both)
	return d, r
}

func (r *running) both() string { return r.stdout.String() + r.stderr.String() }

// compact makes etcd forget everything but the present.
func compact(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	list, err := c.Client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	body := fmt.Sprintf(`{"revision": %q, "physical": true}`, list.ResourceVersion)
	address := c.ControlPlane.Etcd.URL.JoinPath("v3/kv/compaction")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address.String(), strings.NewReader(body))
	require.NoError(t, err)
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// kubeconfigFor writes the configuration to a file.
func kubeconfigFor(t *testing.T, config *rest.Config) string {
	t.Helper()
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["test"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["test"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken}
	kubeconfig.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	kubeconfig.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*kubeconfig, path))
	return path
}
