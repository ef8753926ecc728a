//go:build !try

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/testcluster"
)

func TestReconcileAddsUpThePodsOfOneNamespace(t *testing.T) {
	var out testcluster.Output
	c := newController(t, &out, pod("harbour", "bell", time.Hour), pod("harbour", "buoy", time.Hour), pod("coast", "lamp", time.Hour),
		pod("harbour", "of-the-future", -5*time.Hour)) // a clock is ahead: it takes nothing away
	require.NoError(t, c.reconcile(t.Context(), "harbour"))
	assert.Regexp(t, `^Pods in namespace harbour have been running for 12\d\.\d\d minutes\.$`, out.Lines()[0])
}

func TestAHandlerAddsTheKeyAndDoesNoWork(t *testing.T) {
	var out testcluster.Output
	c := newController(t, &out)
	c.enqueue(pod("harbour", "bell", time.Hour))
	c.enqueue(pod("harbour", "buoy", time.Hour))
	require.Equal(t, 1, c.queue.Len(), "two pods of a namespace are one key")
	key, _ := c.queue.Get()
	assert.Equal(t, "harbour", key)
	assert.Empty(t, out.String())
}

func TestADeletionThatTheWatchMissedIsAKey(t *testing.T) {
	c := newController(t, io.Discard)
	c.enqueue(cache.DeletedFinalStateUnknown{Key: "coast/bell", Obj: pod("coast", "bell", time.Hour)})
	require.Equal(t, 1, c.queue.Len())
	key, _ := c.queue.Get()
	assert.Equal(t, "coast", key)
}

// The line of a key cannot be written at first. It comes all the same.
func TestAFailureIsRetried(t *testing.T) {
	c := newController(t, full)
	c.queue.Add("coast")
	require.True(t, c.processNextItem(t.Context()), "a key that fails is no reason to stop")
	assert.Equal(t, 1, c.queue.NumRequeues("coast"))
	var out testcluster.Output
	c.out = &out
	require.Eventually(t, func() bool { return c.queue.Len() == 1 }, testcluster.TestTimeout, time.Millisecond, "the key comes back")
	require.True(t, c.processNextItem(t.Context()))
	assert.Equal(t, 0, c.queue.NumRequeues("coast"), "its failure is forgotten")
	assert.Equal(t, []string{"Pods in namespace coast have been running for 0.00 minutes."}, out.Lines())
}

func TestTheWorkerEndsWithTheQueue(t *testing.T) {
	c := newController(t, io.Discard)
	c.queue.Add("coast")
	c.queue.ShutDown()
	assert.True(t, c.processNextItem(t.Context()), "what waits is finished")
	assert.False(t, c.processNextItem(t.Context()))
}

func TestItCanBeStoppedBeforeItsCacheIsFull(t *testing.T) {
	_, stop := runs(t, &rest.Config{Host: "http://127.0.0.1:1"}, io.Discard)
	stop()
}

func TestItEndsAfterTheLineThatItIsWriting(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var written atomic.Bool
	out := writerFunc(func(line []byte) (int, error) {
		stop()
		<-time.After(100 * time.Millisecond) // time for a run that does not wait to return
		written.Store(true)
		return len(line), nil
	})
	require.NoError(t, run(ctx, serverWith(t, []*corev1.Pod{pod("harbour", "bell", time.Hour)}), out))
	assert.True(t, written.Load(), "it ended before the line was written")
}

// A program that hangs after a panic is neither restarted nor understood.
func TestAPanicEndsTheProgram(t *testing.T) {
	config := serverWith(t, []*corev1.Pod{pod("harbour", "bell", time.Hour)})
	reason := make(chan any, 1)
	go func() {
		defer func() { reason <- recover() }()
		_ = run(t.Context(), config, writerFunc(func([]byte) (int, error) { panic("no paper") }))
	}()
	select {
	case r := <-reason:
		assert.Equal(t, "no paper", r)
	case <-time.After(testcluster.TestTimeout):
		assert.Fail(t, "the program hangs after a panic")
	}
}

// From here on, the API server is a real one.

func TestALineIsPrintedWhenAPodChanges(t *testing.T) {
	c := testcluster.Shared(t)
	c.CreatePod(t, pod("harbour", "bell", 0))
	var out testcluster.Output
	running, _ := runs(t, c.Config, &out)
	printed := 0
	prints := func(what string) {
		t.Helper()
		eventually(t, running, what, func() bool { return strings.Count(out.String(), "harbour") > printed })
		printed = strings.Count(out.String(), "harbour")
	}
	prints("what was there at the start")
	c.CreatePod(t, pod("harbour", "buoy", 0))
	prints("a new pod is a line")
	label := func() {
		_, err := c.Client.CoreV1().Pods("harbour").Patch(t.Context(), "bell", types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"tone":"%d"}}}`, time.Now().UnixNano()), metav1.PatchOptions{})
		assert.NoError(t, err)
	}
	label()
	prints("a pod that changes is a line")
	nothing := func() bool { return strings.HasSuffix(out.String(), "harbour have been running for 0.00 minutes.\n") }
	eventually(t, running, "the pods grow older", func() bool { label(); return !nothing() })
	c.DeletePod(t, "harbour", "bell")
	c.DeletePod(t, "harbour", "buoy")
	eventually(t, running, "a pod that is deleted is a line, and no pod is left", nothing)
}

// A deletion while the watch is broken, and which the server has forgotten since, is found by comparing
// a new list with the cache.
func TestADeletionDuringAnOutageIsALine(t *testing.T) {
	c := testcluster.Start(t)
	proxy, through := testcluster.StartProxy(t, c.Config)
	c.CreatePod(t, pod("default", "buoy", 0))
	var out testcluster.Output
	running, _ := runs(t, through, &out)
	prints := func(line string, times int) {
		t.Helper()
		eventually(t, running, line, func() bool { return strings.Count(out.String(), line) >= times })
	}
	prints("namespace default", 1)

	out.Take()
	proxy.Refuse()
	c.DeletePod(t, "default", "buoy")
	c.KillServer(t) // it forgets what happened so far
	c.CreatePod(t, pod("harbour", "lamp", 0))
	proxy.Allow()
	prints("namespace harbour", 1)
	c.CreatePod(t, pod("harbour", "last", 0)) // its event comes after all that the list had
	prints("namespace harbour", 2)
	assert.Contains(t, out.String(), "Pods in namespace default have been running for 0.00 minutes.", "the namespace whose last pod is gone")
}
