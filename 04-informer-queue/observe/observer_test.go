package observe

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/hacking-a-controller/04-informer-queue/controller"
	"example.com/hacking-a-controller/04-informer-queue/monitor"
)

// workshop is an observer without a server. The test plays the informer.
type workshop struct {
	*observer
	out     buffer
	stopped chan error
}

func newWorkshop(t *testing.T, args ...string) *workshop {
	t.Helper()
	options, err := parseOptions(append([]string{"configmaps"}, args...), nil)
	require.NoError(t, err)
	w := &workshop{stopped: make(chan error, 10)}
	w.observer = &observer{
		options: options, scope: everywhere, metrics: newMetrics(), stdout: &w.out,
		children: &children{kill: context.Background(), stdout: &w.out, stderr: &w.out},
		stop:     func(err error) { w.stopped <- err },
		cache:    cache.NewStore(cache.MetaNamespaceKeyFunc),
		pending:  pending{events: map[key]event{}}, pass: pass{left: map[key]bool{}},
		tries: map[key]int{}, givenUp: map[key]bool{},
	}
	w.queue = controller.New[key]("test")
	return w
}

// work lets the queue's worker work until nothing is left to do.
func (w *workshop) work(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.queue.Run(ctx, 1, w.reconcile)
	}()
	eventually(t, func() bool {
		w.pending.mu.Lock()
		defer w.pending.mu.Unlock()
		return w.queue.Len() == 0 && len(w.pending.events) == 0
	}, w.out.String)
	cancel()
	<-ended
}

// configMap is one in the cache.
func (w *workshop) configMap(t *testing.T, name, uid, version string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetNamespace("ns")
	u.SetName(name)
	u.SetUID(types.UID(uid))
	u.SetResourceVersion(version)
	require.NoError(t, w.cache.Add(u))
	return u
}

// truePath is that of a command that succeeds.
func truePath(t *testing.T) string {
	t.Helper()
	p, err := findProgram([]string{"true"})
	require.NoError(t, err)
	return p.path
}

func TestEachKindOfNews(t *testing.T) {
	tests := map[string]struct {
		happens func(w *workshop, a1, a2, b *unstructured.Unstructured) // a2 is a1 after a change, b another of that name
		want    []string
	}{
		"it was there":            {func(w *workshop, a1, _, _ *unstructured.Unstructured) { w.OnAdd(a1, true) }, []string{"Sync ns a"}},
		"it came":                 {func(w *workshop, a1, _, _ *unstructured.Unstructured) { w.OnAdd(a1, false) }, []string{"Added ns a"}},
		"it changed":              {func(w *workshop, a1, a2, _ *unstructured.Unstructured) { w.OnUpdate(a1, a2) }, []string{"Updated ns a"}},
		"it was listed once more": {func(w *workshop, a1, _, _ *unstructured.Unstructured) { w.OnUpdate(a1, a1) }, nil},
		"it was deleted":          {func(w *workshop, a1, _, _ *unstructured.Unstructured) { w.OnDelete(a1) }, []string{"Deleted ns a"}},
		"its deletion was missed": {func(w *workshop, a1, _, _ *unstructured.Unstructured) {
			w.OnDelete(cache.DeletedFinalStateUnknown{Obj: a1})
		}, []string{"Deleted ns a"}},
		"it became another object": {func(w *workshop, a1, _, b *unstructured.Unstructured) { w.OnUpdate(a1, b) }, []string{"Deleted ns a", "Added ns a"}},
		"it came and changed":      {func(w *workshop, a1, a2, _ *unstructured.Unstructured) { w.OnAdd(a1, false); w.OnUpdate(a1, a2) }, []string{"Added ns a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			a1, a2, b := w.configMap(t, "a", "1", "1"), w.configMap(t, "a", "1", "2"), w.configMap(t, "a", "2", "3")
			tc.happens(w, a1, a2, b)
			w.work(t)
			assert.Equal(t, tc.want, events(w.out.String()))
		})
	}
}

func TestWhatIsNoLongerThereIsNotTold(t *testing.T) {
	w := newWorkshop(t)
	a := w.configMap(t, "a", "1", "1")
	w.OnAdd(a, false)
	require.NoError(t, w.cache.Delete(a)) // the handler has not heard of it yet
	w.work(t)
	assert.Empty(t, events(w.out.String()))
}

// Of a failure only what failed is tried again.
func TestADeletionThatWasToldIsNotToldAgain(t *testing.T) {
	w := newWorkshop(t, "--delete", "true", "--", "false")
	a, b := w.configMap(t, "a", "1", "1"), w.configMap(t, "a", "2", "2")
	w.OnUpdate(a, b)
	require.Error(t, w.tellOf(t.Context(), keyOf(a)))
	w.options.commandProgram.path = truePath(t)
	require.NoError(t, w.tellOf(t.Context(), keyOf(a)))
	assert.Equal(t, []string{"Deleted true ns a", "Added false ns a", "Added false ns a"}, events(w.out.String()))
	w.queue.Enqueue(keyOf(a))
	w.work(t)
}

func TestADeletionThatFailsComesFirstAgain(t *testing.T) {
	w := newWorkshop(t, "--delete", "false")
	a, b := w.configMap(t, "a", "1", "1"), w.configMap(t, "a", "2", "2")
	w.OnUpdate(a, b)
	require.Error(t, w.tellOf(t.Context(), keyOf(a)))
	w.OnUpdate(b, w.configMap(t, "a", "2", "3"))
	w.options.deleteProgram.path = truePath(t)
	w.work(t)
	assert.Equal(t, []string{"Deleted false ns a", "Deleted false ns a", "Added ns a"}, events(w.out.String()))
}

func TestAPanicLosesNothing(t *testing.T) {
	w := newWorkshop(t)
	w.OnAdd(w.configMap(t, "a", "1", "1"), true)
	arguments := w.options.arguments
	calls := 0
	w.options.arguments = []template{func(map[string]any) (string, error) {
		if calls++; calls == 1 {
			panic("nobody thought of this")
		}
		return "rendered", nil
	}}
	w.work(t)
	w.options.arguments = arguments
	assert.Equal(t, []string{"Sync ns a rendered"}, events(w.out.String()))
}

// A queue of keys does not say what happened, so what happens while a command
// runs must find its place behind what that command was to be told.
func TestADeletionWhileACommandFailsIsTold(t *testing.T) {
	w := newWorkshop(t)
	a := w.configMap(t, "a", "1", "1")
	w.OnAdd(a, false)
	w.options.arguments = []template{func(map[string]any) (string, error) {
		require.NoError(t, w.cache.Delete(a))
		w.OnDelete(a)
		return "", errors.New("not now")
	}}
	require.Error(t, w.tellOf(t.Context(), keyOf(a)))
	w.options.arguments = nil
	w.work(t)
	assert.Equal(t, []string{"Deleted ns a"}, events(w.out.String()))
}

// The answer that there is no such object is as old as any other when it is used.
func TestWhatIsMadeAnewAfterTheServerHadNoneIsNotDeleted(t *testing.T) {
	tests := map[string]struct {
		happens func(w *workshop, a *unstructured.Unstructured) // while the answer is on its way
		want    []string
	}{
		"the informer has told of it": {func(w *workshop, a *unstructured.Unstructured) {
			require.NoError(t, w.cache.Add(a))
			w.OnAdd(a, false)
		}, []string{"Added ns a"}},
		"the informer has not heard of it yet": {func(*workshop, *unstructured.Unstructured) {}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t, "--names", script(t, "echo ns/a"), "--delete", "true")
			a := w.configMap(t, "a", "1", "1")
			require.NoError(t, w.cache.Delete(a))
			w.mapping = configMaps
			client := fake.NewSimpleDynamicClient(scheme.Scheme)
			w.client = client
			asked := 0
			client.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				if asked++; asked > 1 {
					return true, a, nil
				}
				tc.happens(w, a)
				return true, nil, apierrors.NewNotFound(corev1.Resource("configmaps"), "a")
			})
			require.NoError(t, w.reconcile(t.Context(), listedKey))
			w.work(t)
			assert.Equal(t, tc.want, events(w.out.String()))
		})
	}
}

func TestErrorsAreCountedUpToTheLimit(t *testing.T) {
	for limit, want := range map[string][]bool{"2": {false, true, false}, "-1": {false, false, false}} {
		w := newWorkshop(t, "--maximum-errors="+limit)
		for i, stops := range want {
			err := w.failed(errors.New("no"))
			assert.Equal(t, stops, err == nil, "%s: failure %d", limit, i)
			assert.Equal(t, stops, len(w.stopped) == 1 && i == 1, "%s: failure %d", limit, i)
		}
		w.work(t)
	}
}

func TestOnlyErrorsInARowCount(t *testing.T) {
	w := newWorkshop(t, "--maximum-errors=3", "--", "false")
	w.OnAdd(w.configMap(t, "bad", "1", "1"), true)
	w.OnAdd(w.configMap(t, "good", "2", "1"), true)
	bad, good := key{namespace: "ns", name: "bad"}, key{namespace: "ns", name: "good"}
	fail := w.options.commandProgram.path
	for range 2 {
		require.Error(t, w.reconcile(t.Context(), bad))
	}
	w.options.commandProgram.path = truePath(t)
	require.NoError(t, w.reconcile(t.Context(), good))
	w.options.commandProgram.path = fail
	for range 2 {
		require.Error(t, w.reconcile(t.Context(), bad))
	}
	assert.Empty(t, w.stopped)
	require.NoError(t, w.reconcile(t.Context(), bad))
	require.Len(t, w.stopped, 1)
	require.ErrorContains(t, <-w.stopped, "3 commands have failed, which is --maximum-errors")
	w.options.commandProgram.path = truePath(t)
	w.work(t)
}

func TestOnceIsOverWhenAllHasSucceeded(t *testing.T) {
	w := newWorkshop(t, "--once", "--", "false")
	w.pass.add(listedKey)
	w.OnAdd(w.configMap(t, "a", "1", "1"), true)
	require.NoError(t, w.reconcile(t.Context(), listedKey))
	require.Error(t, w.reconcile(t.Context(), key{namespace: "ns", name: "a"}))
	assert.Empty(t, w.stopped)
	w.options.commandProgram.path = truePath(t)
	require.NoError(t, w.reconcile(t.Context(), key{namespace: "ns", name: "a"}))
	require.Len(t, w.stopped, 1)
	require.NoError(t, <-w.stopped)
	w.work(t)
}

func TestResyncComesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t, "--resync-period=1h")
		w.configMap(t, "a", "1", "1")
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.queue.Run(ctx, 1, w.reconcile)
		}()
		w.queue.Enqueue(resyncKey)
		time.Sleep(150 * time.Minute) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.Len(t, events(w.out.String()), 3)
		cancel()
		<-ended
	})
}

func TestItIsUnhealthyUntilTheCacheHasSynced(t *testing.T) {
	w := newWorkshop(t, "--listen-addr=:0")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var synced atomic.Bool
	listener, err := monitor.Listen(w.options.listenAddr)
	require.NoError(t, err)
	address := listener.Addr().String()
	running.Go(func() {
		assert.NoError(t, monitor.Serve(ctx, listener, w.metrics.registry, healthy(synced.Load)))
	})
	assert.Equal(t, "503 not everything is known yet\n", get(t, address, "/healthz"))
	synced.Store(true)
	assert.Equal(t, "200 ok\n", get(t, address, "/healthz"))
	cancel()
	running.Wait()
	w.work(t)
}
