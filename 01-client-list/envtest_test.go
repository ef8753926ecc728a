package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
)

// TestAgainstARealServer runs in order: a cluster starts in seconds, so the subtests share one.
func TestAgainstARealServer(t *testing.T) {
	// Without its cache, the API server reads each page from etcd, so a continue token expires when etcd
	// forgets its moment.
	c := testcluster.Start(t, "watch-cache-sizes=namespaces#0")
	_, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	const names = "default harbour kube-node-lease kube-public kube-system"
	// The API server makes its own namespaces in the background after it is ready.
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		list, err := c.Client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		require.NoError(collect, err)
		assert.Equal(collect, names, strings.Join(namesOf(list.Items), " "))
	}, testcluster.TestTimeout, 50*time.Millisecond)

	for _, size := range []string{"0", "2", "500"} {
		t.Run("the program prints every name once, in chunks of "+size, func(t *testing.T) {
			stdout, stderr, code := clientList(t, "--kubeconfig", c.Kubeconfig, "--chunk-size", size)
			require.Equal(t, 0, code, stderr)
			assert.Equal(t, strings.ReplaceAll(names, " ", "\n")+"\n", stdout)
		})
	}
	t.Run("-o wide prints what kubectl prints", func(t *testing.T) {
		kubectl := c.Kubectl(t, "get", "namespaces")
		stdout, _, _ := clientList(t, "--kubeconfig", c.Kubeconfig, "-o", "wide")
		age := regexp.MustCompile(`\S+\n`) // differs: one of the two runs first
		assert.Equal(t, age.ReplaceAllString(kubectl, "\n"), age.ReplaceAllString(stdout, "\n"))
	})
	t.Run("a user without rights reads what is missing", func(t *testing.T) {
		_, stderr, code := clientList(t, "--kubeconfig", c.UserKubeconfig(t, "jane"))
		assert.Equal(t, 1, code)
		assert.Equal(t, `error: listing the namespaces: namespaces is forbidden: User "jane" cannot list resource "namespaces" in API group "" at the cluster scope; `+
			`ask an administrator for that verb on that resource`+"\n", stderr)
	})
	t.Run("a list goes on after its token has expired", func(t *testing.T) {
		var got []string
		for page, err := range pages(t.Context(), c.Client.CoreV1().Namespaces(), 2, testcluster.TestTimeout) {
			require.NoError(t, err)
			if got = append(got, namesOf(page)...); len(got) == 2 {
				forget(t, c)
			}
			require.LessOrEqual(t, len(got), 5, "the list begins again")
		}
		assert.Equal(t, names, strings.Join(got, " "))
	})
}

// forget makes etcd forget everything before now, so that the server refuses to go on with a list that began before.
func forget(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	before, err := c.Client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	// A write makes the moment of that list a past one.
	_, err = c.Client.CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "now-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	c.Compact(t)
	_, err = c.Client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{Limit: 1, Continue: before.Continue})
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
}
