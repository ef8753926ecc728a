package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/hacking-a-controller/testcluster"
)

// Each test here does something terrible between observe and a real API server
// while ConfigMaps come, change and go. A script keeps a diary of what it has
// handled; in the end it must have what the server has.

func TestTheServerIsKilled(t *testing.T) {
	n := newNamespace(t, testcluster.Start(t))
	d, r := n.startDiary(t)
	n.churn(t, func(done int) {
		if done == 50 || done == 150 {
			n.KillServer(t)
		}
	})
	d.isTrue(t, n, r.both)
	assert.Equal(t, 0, r.end())
	assert.Empty(t, r.stderr.String())
}

func TestTheWatchIsDropped(t *testing.T) {
	n := newNamespace(t, testcluster.Shared(t))
	proxy, through := testcluster.StartProxy(t, n.Config)
	n.kubeconfig = kubeconfigFor(t, through)
	d, r := n.startDiary(t)
	n.churn(t, func(done int) {
		if done%20 == 0 {
			proxy.Cut()
		}
	})
	d.isTrue(t, n, r.both)
	assert.Equal(t, 0, r.end())
}

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

// churn creates 60 ConfigMaps, changes each twice, deletes half and creates some
// of those again. It calls the function after each write.
func (n *namespace) churn(t *testing.T, after func(done int)) {
	t.Helper()
	var done atomic.Int32
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(4)
	for i := range 60 {
		group.Go(func() error {
			name := fmt.Sprintf("churn-%02d", i)
			steps := []func(context.Context) error{n.creates(name), n.changes(name, "1"), n.changes(name, "2")}
			if i%2 == 0 {
				steps = append(steps, n.deletes(name))
			}
			if i%4 == 0 {
				steps = append(steps, n.creates(name))
			}
			for _, step := range steps {
				// The server may be starting again.
				err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, testcluster.TestTimeout, true, func(ctx context.Context) (bool, error) {
					return step(ctx) == nil, nil
				})
				if err != nil {
					return err
				}
				after(int(done.Add(1)))
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

// writes returns a write that may be made again: the one before may have worked,
// and the server died before it answered.
func (n *namespace) writes(done func(error) bool, write func(context.Context, typedcorev1.ConfigMapInterface) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := write(ctx, n.Client.CoreV1().ConfigMaps(n.name))
		if done(err) {
			return nil
		}
		return err
	}
}

func (n *namespace) creates(name string) func(context.Context) error {
	return n.writes(apierrors.IsAlreadyExists, func(ctx context.Context, client typedcorev1.ConfigMapInterface) error {
		_, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	})
}

func (n *namespace) changes(name, value string) func(context.Context) error {
	return n.writes(func(error) bool { return false }, func(ctx context.Context, client typedcorev1.ConfigMapInterface) error {
		_, err := client.Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"data":{"x":%q}}`, value), metav1.PatchOptions{})
		return err
	})
}

func (n *namespace) deletes(name string) func(context.Context) error {
	return n.writes(apierrors.IsNotFound, func(ctx context.Context, client typedcorev1.ConfigMapInterface) error {
		return client.Delete(ctx, name, metav1.DeleteOptions{})
	})
}

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
