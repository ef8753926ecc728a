//go:build !try

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) {
	testTimeout = testcluster.TestTimeout
	testcluster.Main(m)
}

func TestEachEventAndTheRuntimeArePrinted(t *testing.T) {
	c := testcluster.Shared(t)
	pods := c.Client.CoreV1().Pods("default")
	c.CreatePod(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bell"}})
	line := start(t, c.Config)
	require.Equal(t, "ADDED pod bell in namespace default", line())
	_, err := pods.Patch(t.Context(), "bell", types.MergePatchType, []byte(`{"metadata":{"labels":{"tone":"high"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Regexp(t, `^Pods in namespace default have been running for \d+\.\d\d minutes\.$`, line())
	require.Equal(t, "MODIFIED pod bell in namespace default", line())
	require.Contains(t, line(), "Pods in namespace default")

	require.NoError(t, pods.Delete(t.Context(), "bell", metav1.DeleteOptions{}))
	assert.Equal(t, "MODIFIED pod bell in namespace default", line()) // it is marked first
	assert.Contains(t, line(), "Pods in namespace default")
	assert.Equal(t, "DELETED pod bell in namespace default", line())
	assert.Equal(t, "Pods in namespace default have been running for 0.00 minutes.", line())
}

// The server's clock is ahead, by more than what the other pod has.
func TestAPodOfTheFutureTakesNothingAway(t *testing.T) {
	old, future := *pod("old"), *pod("future")
	old.CreationTimestamp, future.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour)), metav1.NewTime(time.Now().Add(5*time.Hour))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{old, future}})
	}))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	var out strings.Builder
	printRuntime(t.Context(), client, "default", &out)
	assert.Contains(t, out.String(), "have been running for 60.")
}

// The lesson shows each fault, so a program without one of them would be as wrong as
// any other broken code.
func TestFault1NoVersion(t *testing.T) {
	queries := make(chan string, 100)
	line := start(t, serve(t, refuse, func(w http.ResponseWriter, r *http.Request) {
		queries <- r.URL.RawQuery
		stream(added("a"))(w, r)
	}))
	assert.Contains(t, line(), "error: watching the pods: ")
	assert.Equal(t, "ADDED pod a in namespace default", line())
	assert.Equal(t, "watch=true", <-queries)
}

func TestFault2AFailedWatchIsRetriedAtOnce(t *testing.T) {
	line := start(t, serve(t, refuse))
	for range 2000 { // with a pause of 100 ms, these would take longer than testTimeout
		require.Contains(t, line(), "error: watching the pods: ")
	}
}

func TestFault3AClosedChannelIsReadForEver(t *testing.T) {
	line := start(t, serve(t, stream(added("a")), refuse)) // the second would be printed
	assert.Equal(t, "ADDED pod a in namespace default", line())
	assert.Contains(t, line(), "Pods in namespace default")
	for range 1000 {
		require.Equal(t, "error: an event without a pod: ", line())
	}
}

func TestFault4AnErrorEventIsPrintedAndIgnored(t *testing.T) {
	line := start(t, serve(t, stream(gone())))
	assert.Equal(t, "error: an event without a pod: ERROR", line())
	assert.Equal(t, "error: an event without a pod: ", line())
}

func TestFaults5And6EachEventIsAListAndAFailedOneIsNotRepeated(t *testing.T) {
	var lists atomic.Int32
	watching := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("watch") {
			lists.Add(1)
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		stream(added("a"), added("b"))(w, r)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-watching:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(watching) })
	line := start(t, &rest.Config{Host: server.URL, QPS: -1})
	for _, want := range []string{"ADDED pod a in namespace default", "error: listing the pods: ", "ADDED pod b in namespace default", "error: listing the pods: "} {
		require.Contains(t, line(), want)
	}
	assert.EqualValues(t, 2, lists.Load())
}
