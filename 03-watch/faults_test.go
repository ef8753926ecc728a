package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/testcluster"
)

// Each test here does something terrible to the connection between a follower
// and a real API server while 500 pods are created, changed and deleted. It
// does so to all three kinds of source at once. In the end each must know what
// the server has, and have reported no change that contradicts another.

func TestTheServerIsKilled(t *testing.T) {
	c := testcluster.Start(t)
	namespace, followers := startFollowers(t, c.Config)
	churn(t, c.Client, namespace, func(done int) {
		if done == 400 || done == 900 {
			c.KillServer(t)
		}
	})
	for name, f := range followers {
		f.knowsWhatTheServerHas(t, c.Client)
		assert.NotEmpty(t, f.notes(), "%s: it must have noticed", name)
	}
}

func TestTheConnectionIsDropped(t *testing.T) {
	c := testcluster.Shared(t)
	p, through := testcluster.StartProxy(t, c.Config)
	// When an HTTP/2 connection breaks, client-go now and then makes an ERROR
	// event of it. The follower lists then, which is right, but skips steps.
	through.NextProtos = []string{"http/1.1"}
	namespace, followers := startFollowers(t, through)
	written := churn(t, c.Client, namespace, func(done int) {
		if done%50 == 0 {
			p.Cut()
		}
	})
	for name, f := range followers {
		f.knowsWhatTheServerHas(t, c.Client)
		assert.Contains(t, f.notes(), "going on from version", name)
		require.NotContains(t, f.notes(), "listing again", "%s: the version was never gone", name)
		f.reportedEvery(t, written)
	}
}

func TestTheVersionIsGone(t *testing.T) {
	// Without its cache, the API server forwards a watch to etcd, which knows
	// nothing of what came before a compaction.
	c := testcluster.Start(t, "watch-cache-sizes=pods#0")
	p, through := testcluster.StartProxy(t, c.Config)
	namespace, followers := startFollowers(t, through)
	churn(t, c.Client, namespace, func(done int) {
		switch done {
		case 300:
			p.Refuse()
		case 1000:
			compact(t, c)
			p.Allow()
		}
	})
	for name, f := range followers {
		f.knowsWhatTheServerHas(t, c.Client)
		assert.Contains(t, f.notes(), "listing again", name)
		assert.Contains(t, f.notes(), "too old", name)
	}
}

func TestTheServerSendsAnError(t *testing.T) {
	c := testcluster.Shared(t)
	var watches atomic.Int32
	config := rest.CopyConfig(c.Config)
	config.ContentType = runtime.ContentTypeJSON // the clientset would take protobuf
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			// Of the first watches each ends with an ERROR after some events.
			if n := watches.Add(1); err == nil && request.URL.Query().Has("watch") && n < 40 {
				response.Body = &errorAfter{ReadCloser: response.Body, events: 60}
			}
			return response, err
		})
	})
	namespace, followers := startFollowers(t, config)
	churn(t, c.Client, namespace, func(int) {})
	for name, f := range followers {
		f.knowsWhatTheServerHas(t, c.Client)
		assert.Contains(t, f.notes(), "the server ended the watch (etcdserver: leader changed); listing again", name)
	}
}

// errorAfter is a stream whose server sends an ERROR after so many events.
type errorAfter struct {
	io.ReadCloser
	events int
	buffer bytes.Buffer
	lines  *json.Decoder
}

func (e *errorAfter) Read(p []byte) (int, error) {
	if e.lines == nil {
		e.lines = json.NewDecoder(e.ReadCloser)
	}
	if e.buffer.Len() == 0 && e.events >= 0 {
		e.events--
		var line json.RawMessage = []byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":500,"message":"etcdserver: leader changed"}}`)
		if e.events >= 0 {
			if err := e.lines.Decode(&line); err != nil {
				return 0, err
			}
		}
		e.buffer.Write(append(line, '\n'))
	}
	return e.buffer.Read(p)
}

// compact makes etcd forget everything but the present.
func compact(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	list, err := c.Client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{Limit: 1})
	require.NoError(t, err)
	body := fmt.Sprintf(`{"revision": %q, "physical": true}`, list.ResourceVersion)
	address := c.ControlPlane.Etcd.URL.JoinPath("v3/kv/compaction")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address.String(), strings.NewReader(body))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// following is a follower that runs, and the ledger that it reports to.
type following struct {
	*ledger
	namespace string
	ended     chan struct{}
	err       error // once it has ended

	mu    sync.Mutex
	noted strings.Builder
}

// startFollowers makes a namespace and follows its pods from each kind of source,
// until the test ends.
func startFollowers(t *testing.T, config *rest.Config) (namespace string, followers map[string]*following) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config)
	namespace = createNamespace(t, client, "followed")
	followers = map[string]*following{}
	for _, name := range []string{"typed", "any", "raw"} {
		f := &following{ledger: newLedger(), namespace: namespace, ended: make(chan struct{})}
		f.start(t, sourceOf(t, name, config, namespace, f.note))
		followers[name] = f
	}
	// All have listed once they know of a pod. What comes now are events.
	createPod(t, client, namespace, "witness")
	for name, f := range followers {
		require.Eventually(t, func() bool { return f.hasEnded() || len(f.present()) == 1 }, testcluster.TestTimeout, 10*time.Millisecond, name)
		if f.hasEnded() {
			require.Failf(t, "it has ended", "%s: %v", name, f.err)
		}
	}
	return namespace, followers
}

func sourceOf(t *testing.T, name string, config *rest.Config, namespace string, note func(string, ...any)) cache.ListerWatcherWithContext {
	t.Helper()
	switch name {
	case "typed":
		return podSource(kubernetes.NewForConfigOrDie(config), namespace, "")
	case "any":
		mapping := &meta.RESTMapping{Resource: corev1.SchemeGroupVersion.WithResource("pods"), Scope: meta.RESTScopeNamespace}
		return anySource(dynamic.NewForConfigOrDie(config), mapping, namespace, "")
	default:
		source, err := newRawSource(config, namespace, "", io.Discard, note)
		require.NoError(t, err)
		return source
	}
}

func (f *following) start(t *testing.T, source cache.ListerWatcherWithContext) {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(f.ended)
		f.err = newFollower(source, f.enter, f.note, 30*time.Second).run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-f.ended
		assert.NoError(t, f.err)
	})
}

// hasEnded is true of a follower that does not follow any more.
func (f *following) hasEnded() bool {
	select {
	case <-f.ended:
		return true
	default:
		return false
	}
}

func (f *following) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(&f.noted, format+"\n", args...)
}

func (f *following) notes() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noted.String()
}

// knowsWhatTheServerHas waits until the ledger shows what the server has.
func (f *following) knowsWhatTheServerHas(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	pods, err := client.CoreV1().Pods(f.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	want := map[types.NamespacedName]entry{}
	for i := range pods.Items {
		want[key(&pods.Items[i])] = entryOf(&pods.Items[i])
	}
	require.Len(t, want, 301)
	assert.Eventually(t, func() bool { return f.hasEnded() || assert.ObjectsAreEqual(want, f.present()) }, testcluster.TestTimeout, 20*time.Millisecond)
	require.Equal(t, want, f.present(), f.notes())
	assert.Empty(t, f.contradictions())
}

// reportedEvery compares what was reported with all that was written: nothing is
// missing, and nothing was reported twice.
func (f *following) reportedEvery(t *testing.T, written *writes) {
	t.Helper()
	f.ledger.mu.Lock()
	defer f.ledger.mu.Unlock()
	reported := reported(f.changes)
	delete(reported, "witness")
	assert.Equal(t, written.byPod, reported)
}
