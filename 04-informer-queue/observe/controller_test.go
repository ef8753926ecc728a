package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"

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

	"example.com/hacking-a-controller/testcluster"
)

// env is a controller whose informer does not run. The test calls its handlers.
type env struct {
	*controller
	out     testcluster.Output
	stopped chan error
}

func newEnv(t *testing.T, args ...string) *env {
	t.Helper()
	e := &env{stopped: make(chan error, 10)}
	var err error
	e.controller, err = newController(
		parseOptions(t, append([]string{"configmaps"}, args...)...),
		target{client: fake.NewSimpleDynamicClient(scheme.Scheme), mapping: configMaps, scope: scopeOf(configMaps, "")},
		&e.out, &e.out, context.Background(), context.Background(),
		func(err error) { e.stopped <- err },
	)
	require.NoError(t, err)
	return e
}

// work is the worker, until nothing is left to do.
func (e *env) work(t *testing.T) {
	t.Helper()
	for e.queue.Len() > 0 || len(e.pending.events) > 0 {
		e.processNextItem(t.Context())
	}
	e.queue.ShutDown()
}

// configMap is one in the cache.
func (e *env) configMap(t *testing.T, name, uid, version string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetNamespace("ns")
	u.SetName(name)
	u.SetUID(types.UID(uid))
	u.SetResourceVersion(version)
	require.NoError(t, e.informer.GetStore().Add(u))
	return u
}

// truePath is that of a command that succeeds.
func truePath(t *testing.T) string {
	t.Helper()
	return found(t, "true").path
}

func TestTheEventOfEachChange(t *testing.T) {
	tests := map[string]struct {
		happens func(e *env, a1, a2, b *unstructured.Unstructured) // a2 is a1 after a change, b another of that name
		want    []string
	}{
		"it was there":            {func(e *env, a1, _, _ *unstructured.Unstructured) { e.OnAdd(a1, true) }, []string{"Sync ns a"}},
		"it came":                 {func(e *env, a1, _, _ *unstructured.Unstructured) { e.OnAdd(a1, false) }, []string{"Added ns a"}},
		"it changed":              {func(e *env, a1, a2, _ *unstructured.Unstructured) { e.OnUpdate(a1, a2) }, []string{"Updated ns a"}},
		"it was listed once more": {func(e *env, a1, _, _ *unstructured.Unstructured) { e.OnUpdate(a1, a1) }, nil},
		"it was deleted":          {func(e *env, a1, _, _ *unstructured.Unstructured) { e.OnDelete(a1) }, []string{"Deleted ns a"}},
		"its deletion was missed": {func(e *env, a1, _, _ *unstructured.Unstructured) {
			e.OnDelete(cache.DeletedFinalStateUnknown{Obj: a1})
		}, []string{"Deleted ns a"}},
		"it became another object": {func(e *env, a1, _, b *unstructured.Unstructured) { e.OnUpdate(a1, b) }, []string{"Deleted ns a", "Added ns a"}},
		"it came and changed":      {func(e *env, a1, a2, _ *unstructured.Unstructured) { e.OnAdd(a1, false); e.OnUpdate(a1, a2) }, []string{"Added ns a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			a1, a2, b := e.configMap(t, "a", "1", "1"), e.configMap(t, "a", "1", "2"), e.configMap(t, "a", "2", "3")
			tc.happens(e, a1, a2, b)
			e.work(t)
			assert.Equal(t, tc.want, events(e.out.String()))
		})
	}
}

func TestNoCommandRunsForWhatIsNoLongerThere(t *testing.T) {
	e := newEnv(t)
	a := e.configMap(t, "a", "1", "1")
	e.OnAdd(a, false)
	require.NoError(t, e.informer.GetStore().Delete(a)) // the handler has not been called yet
	e.work(t)
	assert.Empty(t, events(e.out.String()))
}

// After a failure only what failed is tried again.
func TestADeletionThatSucceededIsNotRepeated(t *testing.T) {
	e := newEnv(t, "--delete", "true", "--", "false")
	a, b := e.configMap(t, "a", "1", "1"), e.configMap(t, "a", "2", "2")
	e.OnUpdate(a, b)
	require.Error(t, e.reconcileObject(t.Context(), cache.MetaObjectToName(a)))
	e.options.program.path = truePath(t)
	require.NoError(t, e.reconcileObject(t.Context(), cache.MetaObjectToName(a)))
	assert.Equal(t, []string{"Deleted true ns a", "Added false ns a", "Added false ns a"}, events(e.out.String()))
	e.work(t)
}

func TestADeletionThatFailsComesFirstAgain(t *testing.T) {
	e := newEnv(t, "--delete", "false")
	a, b := e.configMap(t, "a", "1", "1"), e.configMap(t, "a", "2", "2")
	e.OnUpdate(a, b)
	require.Error(t, e.reconcileObject(t.Context(), cache.MetaObjectToName(a)))
	e.OnUpdate(b, e.configMap(t, "a", "2", "3"))
	e.options.delete.path = truePath(t)
	e.work(t)
	assert.Equal(t, []string{"Deleted false ns a", "Deleted false ns a", "Added ns a"}, events(e.out.String()))
}

func TestAPanicLosesNothing(t *testing.T) {
	e := newEnv(t)
	e.OnAdd(e.configMap(t, "a", "1", "1"), true)
	calls := 0
	e.options.arguments = []template{func(map[string]any) (string, error) {
		if calls++; calls == 1 {
			panic("an unexpected object")
		}
		return "rendered", nil
	}}
	e.work(t)
	assert.Equal(t, []string{"Sync ns a rendered"}, events(e.out.String()))
}

// A queue of keys does not hold what happened. So an event that comes while a command
// runs must find its place behind the one that the command runs for.
func TestADeletionWhileACommandFailsIsNotLost(t *testing.T) {
	e := newEnv(t)
	a := e.configMap(t, "a", "1", "1")
	e.OnAdd(a, false)
	e.options.arguments = []template{func(map[string]any) (string, error) {
		require.NoError(t, e.informer.GetStore().Delete(a))
		e.OnDelete(a)
		return "", errors.New("not now")
	}}
	require.Error(t, e.reconcileObject(t.Context(), cache.MetaObjectToName(a)))
	e.options.arguments = nil
	e.work(t)
	assert.Equal(t, []string{"Deleted ns a"}, events(e.out.String()))
}

// The answer that there is no such object is as old as any other when it is used.
func TestWhatIsMadeAnewAfterTheServerHadNoneIsNotDeleted(t *testing.T) {
	tests := map[string]struct {
		happens func(e *env, a *unstructured.Unstructured) // while the answer is on its way
		want    []string
	}{
		"the informer has reported it": {func(e *env, a *unstructured.Unstructured) {
			require.NoError(t, e.informer.GetStore().Add(a))
			e.OnAdd(a, false)
		}, []string{"Added ns a"}},
		"the informer has not seen it yet": {func(*env, *unstructured.Unstructured) {}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, "--names", script(t, "echo ns/a"), "--delete", "true")
			a := e.configMap(t, "a", "1", "1")
			require.NoError(t, e.informer.GetStore().Delete(a))
			client := fake.NewSimpleDynamicClient(scheme.Scheme)
			e.client = client
			gets := 0
			client.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				if gets++; gets > 1 {
					return true, a, nil
				}
				tc.happens(e, a)
				return true, nil, apierrors.NewNotFound(corev1.Resource("configmaps"), "a")
			})
			require.NoError(t, e.reconcile(t.Context(), listedKey))
			e.work(t)
			assert.Equal(t, tc.want, events(e.out.String()))
		})
	}
}

func TestOnlyErrorsInARowCount(t *testing.T) {
	e := newEnv(t, "--maximum-errors=3", "--", "false")
	e.OnAdd(e.configMap(t, "bad", "1", "1"), true)
	e.OnAdd(e.configMap(t, "good", "2", "1"), true)
	bad, good := cache.ObjectName{Namespace: "ns", Name: "bad"}, cache.ObjectName{Namespace: "ns", Name: "good"}
	fail := e.options.program.path
	for range 2 {
		require.Error(t, e.reconcile(t.Context(), bad))
	}
	e.options.program.path = truePath(t)
	require.NoError(t, e.reconcile(t.Context(), good))
	e.options.program.path = fail
	for range 2 {
		require.Error(t, e.reconcile(t.Context(), bad))
	}
	assert.Empty(t, e.stopped)
	require.NoError(t, e.reconcile(t.Context(), bad))
	require.Len(t, e.stopped, 1)
	require.ErrorContains(t, <-e.stopped, "3 commands have failed, which is --maximum-errors")
	e.options.program.path = truePath(t)
	e.work(t)
}

func TestAFailureIsTheLastUnlessTheLimitIsNegative(t *testing.T) {
	for limit, stops := range map[string]int{"0": 1, "1": 1, "2": 0, "-1": 0} {
		e := newEnv(t, "--maximum-errors="+limit, "--", "false")
		e.OnAdd(e.configMap(t, "bad", "1", "1"), true)
		err := e.reconcile(t.Context(), cache.ObjectName{Namespace: "ns", Name: "bad"})
		assert.Equal(t, stops == 0, err != nil, "it's tried again with %s", limit)
		assert.Len(t, e.stopped, stops, limit)
		e.options.program.path = truePath(t)
		e.work(t)
	}
}

func TestOnceIsOverWhenAllHasSucceeded(t *testing.T) {
	e := newEnv(t, "--once", "--", "false")
	e.fullSync[listedKey] = true
	e.OnAdd(e.configMap(t, "a", "1", "1"), true)
	require.NoError(t, e.reconcile(t.Context(), listedKey))
	require.Error(t, e.reconcile(t.Context(), cache.ObjectName{Namespace: "ns", Name: "a"}))
	assert.Empty(t, e.stopped)
	e.options.program.path = truePath(t)
	require.NoError(t, e.reconcile(t.Context(), cache.ObjectName{Namespace: "ns", Name: "a"}))
	require.Len(t, e.stopped, 1)
	require.ErrorIs(t, <-e.stopped, errDone)
	e.work(t)
}

func TestAResyncWaitsForTheFullSyncThatIsRunning(t *testing.T) {
	e := newEnv(t, "--resync-period=1h")
	e.configMap(t, "a", "1", "1")
	for _, k := range []cache.ObjectName{resyncKey, resyncKey, {Namespace: "ns", Name: "a"}} {
		require.NoError(t, e.reconcile(t.Context(), k))
	}
	assert.Equal(t, []string{"Sync started", "Sync ended"}, regexp.MustCompile(`Sync (started|ended)`).FindAllString(e.out.String(), -1))
	e.work(t)
}

func TestItIsUnhealthyUntilTheCacheHasSynced(t *testing.T) {
	e := newEnv(t)
	healthz := func() string {
		answer := httptest.NewRecorder()
		e.handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return fmt.Sprint(answer.Code, " ", answer.Body)
	}
	assert.Equal(t, "503 the cache has not synced yet\n", healthz())
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.informer.RunWithContext(ctx) })
	eventually(t, func() bool { return healthz() == "200 ok\n" }, e.out.String)
	cancel()
	running.Wait()
	e.work(t)
}
