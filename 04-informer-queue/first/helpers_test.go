package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/hacking-a-controller/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m) }

// newController returns a controller whose cache has these pods.
func newController(t *testing.T, out io.Writer, pods ...*corev1.Pod) *controller {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, pod := range pods {
		_ = indexer.Add(pod) // fails only without metadata
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	t.Cleanup(queue.ShutDown)
	return &controller{pods: corelisters.NewPodLister(indexer), queue: queue, out: out}
}

func pod(namespace, name string, age time.Duration) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-age))}}
}

// writerFunc is an output.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// full is an output that nothing can be written to.
var full = writerFunc(func([]byte) (int, error) { return 0, errors.New("no space left on device") })

// runs runs the controller until stop, or until the test ends. Its context ends when the controller has
// ended by itself.
func runs(t *testing.T, config *rest.Config, out io.Writer) (running context.Context, stop func()) {
	return testcluster.Run(t, func(ctx context.Context) error { return run(ctx, config, out) })
}

// eventually waits until something is so, but not for a controller that has ended.
func eventually(t *testing.T, running context.Context, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, func() bool { return running.Err() != nil || is() }, testcluster.TestTimeout, 5*time.Millisecond, what)
	require.NoError(t, context.Cause(running), what)
}

// serverWith starts a stand-in for an API server that has these pods. Nothing changes, but what the
// events of a watch say.
func serverWith(t *testing.T, pods []*corev1.Pod, events ...any) *rest.Config {
	list := corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, pod := range pods {
		list.Items = append(list.Items, *pod)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w) // it fails only when the controller has gone
		switch query := r.URL.Query(); {
		case query.Has("sendInitialEvents"):
			http.Error(w, "only lists", http.StatusBadRequest) // as an old server does; the informer sends a LIST
		case query.Has("watch"):
			for _, event := range events {
				_ = encoder.Encode(event)
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			_ = encoder.Encode(list)
		}
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}
