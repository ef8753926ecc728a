package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/01-client-list/cli"
	"example.com/hacking-a-controller/testcluster"
)

// TestAgainstARealServer runs in order: a cluster starts in seconds, so the
// subtests share one, and the later ones find what the earlier ones made.
func TestAgainstARealServer(t *testing.T) {
	// Without its cache, the API server reads each page from etcd, so a Continue token
	// expires when etcd forgets its moment.
	c := testcluster.Start(t, "watch-cache-sizes=namespaces#0")
	client := kubernetes.NewForConfigOrDie(c.Config)
	waitForNamespaces(t, client)
	if !t.Run("a new cluster has four namespaces", func(t *testing.T) { fourNamespaces(t, c) }) {
		return // of a program that cannot list, there is no more to know
	}
	t.Run("-o wide prints what kubectl prints", func(t *testing.T) { sameAsKubectl(t, c) })
	t.Run("a user without rights reads what is missing", func(t *testing.T) { forbidden(t, c, client) })
	t.Run("credentials of another cluster are refused", func(t *testing.T) { unauthorised(t, c) })

	names := create(t, client, 120)
	t.Run("pages of 50 are three requests", func(t *testing.T) { threeRequests(t, c, names) })
	t.Run("the program prints every name once", func(t *testing.T) { everyName(t, c, names) })
	t.Run("a list goes on after its token has expired", func(t *testing.T) { expiredToken(t, c, client, names) })
}

// waitForNamespaces waits for the four of a new cluster. The API server makes
// them in the background after it is ready.
func waitForNamespaces(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	require.Eventually(t, func() bool {
		list, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 4
	}, testcluster.TestTimeout, 50*time.Millisecond)
}

func fourNamespaces(t *testing.T, c *testcluster.Cluster) {
	stdout, stderr, code := clientList(t, "--kubeconfig", c.Kubeconfig)
	assert.Equal(t, "default\nkube-node-lease\nkube-public\nkube-system\n", stdout)
	assert.Empty(t, stderr)
	assert.Equal(t, 0, code)
}

// Of namespaces, kubectl has no further column to show when it is asked for all.
func sameAsKubectl(t *testing.T, c *testcluster.Cluster) {
	// An age can change between the two; then they agree a moment later.
	assert.EventuallyWithT(t, func(collect *assert.CollectT) {
		want, err := exec.CommandContext(t.Context(), c.ControlPlane.KubectlPath, "--kubeconfig", c.Kubeconfig, "get", "namespaces", "-o", "wide").Output()
		require.NoError(collect, err)
		got, _, code := clientList(t, "--kubeconfig", c.Kubeconfig, "-o", "wide")
		require.Equal(collect, 0, code)
		assert.Equal(collect, string(want), got)
	}, testcluster.TestTimeout, 100*time.Millisecond)
}

func forbidden(t *testing.T, c *testcluster.Cluster, client kubernetes.Interface) {
	kubeconfig := c.UserKubeconfig(t, "jane")
	stdout, stderr, code := clientList(t, "--kubeconfig", kubeconfig)
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Equal(t, `error: namespaces is forbidden: User "jane" cannot list resource "namespaces" in API group "" at the cluster scope; `+
		`ask an administrator for that verb on that resource`+"\n", stderr)

	// The sentence is true: that verb on that resource is all it takes.
	_, err := client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "namespace-lister"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "jane-lists-namespaces"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "namespace-lister"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "jane"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, _, code := clientList(t, "--kubeconfig", kubeconfig)
		return code == 0
	}, testcluster.TestTimeout, 50*time.Millisecond)
}

func unauthorised(t *testing.T, c *testcluster.Cluster) {
	path := kubeconfigTo(t, c.Config.Host, c.Config.CAData) // its token is "test"
	_, stderr, code := clientList(t, "--kubeconfig", path)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "error: "+c.Config.Host+" does not accept the credentials")
}

func threeRequests(t *testing.T, c *testcluster.Cluster, names []string) {
	var requests atomic.Int32
	config := rest.CopyConfig(c.Config)
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			return next.RoundTrip(r)
		})
	}
	client := kubernetes.NewForConfigOrDie(config)

	var got []string
	var sizes []int
	for page, err := range pages(t.Context(), client.CoreV1().Namespaces(), 50, testcluster.TestTimeout) {
		require.NoError(t, err)
		require.LessOrEqual(t, requests.Load(), int32(3), "the list does not end")
		sizes = append(sizes, len(page))
		got = append(got, namesOf(page)...)
	}
	assert.EqualValues(t, 3, requests.Load())
	assert.Equal(t, []int{50, 50, 20}, sizes)
	assert.Equal(t, names, got)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func everyName(t *testing.T, c *testcluster.Cluster, names []string) {
	for _, chunkSize := range []int{0, 10, 50} {
		stdout, stderr, code := clientList(t, "--kubeconfig", c.Kubeconfig, fmt.Sprintf("--chunk-size=%d", chunkSize))
		require.Equal(t, 0, code, stderr)
		assert.Empty(t, stderr)
		assert.Equal(t, strings.Join(names, "\n")+"\n", stdout)
	}
}

// expiredToken makes the server forget the moment of the first page before the
// second is requested.
func expiredToken(t *testing.T, c *testcluster.Cluster, client kubernetes.Interface, names []string) {
	first := true
	var got []string
	for page, err := range pages(t.Context(), client.CoreV1().Namespaces(), 50, testcluster.TestTimeout) {
		require.NoError(t, err)
		got = append(got, namesOf(page)...)
		require.LessOrEqual(t, len(got), len(names), "the list begins again")
		if first {
			first = false
			forget(t, c, client)
		}
	}
	assert.Equal(t, names, got)
}

// forget makes etcd forget everything before now, as it usually does every five
// minutes. The server then refuses to go on with a list that began before.
func forget(t *testing.T, c *testcluster.Cluster, client kubernetes.Interface) {
	t.Helper()
	before, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	// A write makes the moment of that list a past one.
	now, err := client.CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "now-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	body := fmt.Sprintf(`{"revision": %q, "physical": true}`, now.ResourceVersion)
	address := c.ControlPlane.Etcd.URL.JoinPath("v3/kv/compaction")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address.String(), strings.NewReader(body))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1, Continue: before.Continue})
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
}

// create fills the cluster up to so many namespaces and returns their names in
// the order of the server.
func create(t *testing.T, client kubernetes.Interface, total int) []string {
	t.Helper()
	existing, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	names := namesOf(existing.Items)
	for i := range total - len(names) {
		names = append(names, fmt.Sprintf("ns-%04d", i))
	}

	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for _, name := range names[len(existing.Items):] {
		group.Go(func() error {
			_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return err
		})
	}
	require.NoError(t, group.Wait())
	slices.Sort(names)
	return names
}

func namesOf(namespaces []corev1.Namespace) []string {
	var names []string
	for _, namespace := range namespaces {
		names = append(names, namespace.Name)
	}
	return names
}

// clientList runs the program inside the test.
func clientList(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	defer cancel()
	var out, errs bytes.Buffer
	code = cli.Run(ctx, newCommand(), append(args, "--request-timeout="+testcluster.TestTimeout.String()), &out, &errs)
	return out.String(), errs.String(), code
}
