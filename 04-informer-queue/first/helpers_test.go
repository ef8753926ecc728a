package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

func newController(out io.Writer, pods ...*corev1.Pod) *controller {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, pod := range pods {
		_ = indexer.Add(pod) // fails only without metadata
	}
	return &controller{
		pods:  corelisters.NewPodLister(indexer),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		out:   out,
	}
}

func pod(namespace, name string, age time.Duration) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-age))}}
}

// full is an output that nothing can be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

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
