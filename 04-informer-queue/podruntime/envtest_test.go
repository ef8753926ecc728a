package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

func TestTheWholeProgram(t *testing.T) {
	c := testcluster.Shared(t)
	var namespaces [2]string
	for i := range namespaces {
		created, err := c.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "coast-"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		namespaces[i] = created.Name
	}
	coast, other := namespaces[0], namespaces[1]
	starts := func(namespace, name string, hoursAgo time.Duration) {
		t.Helper()
		require.NoError(t, create(t.Context(), c.Client, pod(namespace, name, runs(time.Now().Add(-hoursAgo*time.Hour)))))
	}
	starts(coast, "bell", 1)
	starts(other, "buoy", 0)
	var requests atomic.Int32
	proxy, config := testcluster.StartProxy(t, c.Config)
	testcluster.Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		requests.Add(1)
		return next.RoundTrip(r)
	})(config)
	var out testcluster.Output
	stop := begin(t, config, &out, options{namespace: coast, workers: 2})
	prints := func(minutes string) {
		t.Helper()
		last := regexp.MustCompile("Pods in namespace " + coast + " have been running for " + minutes + " minutes\\.\n$")
		require.Eventually(t, func() bool { return last.MatchString(out.String()) }, testcluster.TestTimeout, 10*time.Millisecond, last.String())
	}
	prints(`6\d\.\d\d`)
	starts(coast, "gull", 1)
	prints(`12\d\.\d\d`)
	assert.EqualValues(t, 1, requests.Load(), "one request at the start, and none for an event")

	proxy.Refuse() // while there is no connection, a pod goes and one comes
	remove(t, c.Client, coast, "bell")
	starts(coast, "lamp", 2)
	proxy.Allow()
	prints(`18\d\.\d\d`)
	remove(t, c.Client, coast, "gull")
	remove(t, c.Client, coast, "lamp")
	prints(`0\.00`)
	remove(t, c.Client, other, "buoy")
	stop()
	assert.NotContains(t, out.String(), other, "other namespaces are not watched")
}

func TestItCanBeStoppedBeforeItsCacheIsFull(t *testing.T) {
	begin(t, &rest.Config{Host: "http://127.0.0.1:1"}, io.Discard, options{workers: 2, listen: "127.0.0.1:0"})()
}

func TestItServesUntilItIsStopped(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c, _ := cached(io.Discard)
	defer c.queue.ShutDown()
	stop := c.serve(listener, func() bool { return true })
	response, err := http.Get("http://" + listener.Addr().String() + "/healthz")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)

	ctx, cancel := context.WithCancel(t.Context())
	cancel() // without an error, the second program would end at once
	err = run(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, io.Discard, options{workers: 2, listen: listener.Addr().String()})
	require.ErrorContains(t, err, "-listen: listen tcp "+listener.Addr().String()+": bind: address already in use")
	stop()
	require.ErrorIs(t, listener.Close(), net.ErrClosed)
}

// begin runs podruntime. The function that it returns stops it and waits.
func begin(t *testing.T, config *rest.Config, out io.Writer, o options) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, config, out, o) }()
	return func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(testcluster.TestTimeout):
			require.FailNow(t, "the program does not end with its context")
		}
	}
}

// create creates a pod, and writes its status as its kubelet would.
func create(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	status := pod.Status
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example.com/shop/checkout-service:v1.42.3", Args: []string{"--listen=:8080", "--log-level=info"}}}
	created, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status = status
	_, err = client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

func remove(t testing.TB, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	require.NoError(t, client.CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
}
