//go:build try

package main

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/hacking-a-controller/testcluster"
)

// What the lessons of parts 1 to 3 ask the reader to write. Until then, these tests fail.

// event is a line of a watch.
func event(what string, of *corev1.Pod) any {
	of = of.DeepCopy()
	of.TypeMeta, of.ResourceVersion = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, "2"
	return map[string]any{"type": what, "object": of}
}

func TestTryOnlyPodsThatRunCount(t *testing.T) {
	var out strings.Builder
	running, pending := pod("harbour", "bell", time.Hour), pod("harbour", "buoy", time.Hour)
	running.Status.Phase, pending.Status.Phase = corev1.PodRunning, corev1.PodPending
	c := newController(t, &out, running, pending)
	require.NoError(t, c.reconcile(t.Context(), "harbour"))
	require.Contains(t, out.String(), "have been running for 60.", "one of the two pods runs")
}

func TestTryItPrintsWhatTheInformerReports(t *testing.T) {
	bell := pod("harbour", "bell", time.Hour)
	var out testcluster.Output
	runs(t, serverWith(t, []*corev1.Pod{bell}, event("MODIFIED", bell), event("DELETED", bell)), &out)
	prints := func(line string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(out.String(), line) }, testcluster.TestTimeout, time.Millisecond, "it didn't print: "+line)
	}
	prints("minutes") // the key was added before that
	require.Contains(t, out.String(), "added harbour/bell\n", "it didn't print: added harbour/bell")
	prints("updated harbour/bell\n")
	prints("deleted harbour/bell\n")
}

func TestTryAResyncIsNoReasonToReconcile(t *testing.T) {
	c := newController(t, io.Discard)
	handler, ok := any(c).(interface{ update(before, after any) })
	require.True(t, ok, "the controller has no method update(before, after any)")
	before, after := pod("harbour", "bell", time.Hour), pod("harbour", "bell", time.Hour)
	before.ResourceVersion, after.ResourceVersion = "7", "7"
	handler.update(before, after)
	require.Zero(t, c.queue.Len(), "an update to the same version is a resync")
	after.ResourceVersion = "8"
	handler.update(before, after)
	require.Equal(t, 1, c.queue.Len(), "another version is a change")
}

// The pod was deleted and created again, and the cache doesn't have the new one yet.
func TestTryNoPodInTheCacheIsConfirmedLive(t *testing.T) {
	bell := pod("harbour", "bell", time.Hour)
	stale := serverWith(t, []*corev1.Pod{bell}, event("DELETED", bell))
	var lists atomic.Int32
	testcluster.Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if strings.Contains(r.URL.Path, "harbour") {
			lists.Add(1)
		}
		return next.RoundTrip(r)
	})(stale)
	var out testcluster.Output
	runs(t, stale, &out)
	gone := func() bool { return strings.Contains(out.String(), "running for 0.00") }
	require.Eventually(t, func() bool { return gone() || lists.Load() > 1 }, testcluster.TestTimeout, time.Millisecond, "it sends no LIST of the pods of harbour, or doesn't come back to it")
	require.False(t, gone(), "the server still has a pod of harbour")
}

func TestTryAnotherPodOfTheSameNameIsNoted(t *testing.T) {
	var out testcluster.Output
	c := newController(t, &out)
	handler, ok := any(c).(interface{ update(before, after any) })
	require.True(t, ok, "the controller has no method update(before, after any)")
	before, after := pod("harbour", "bell", time.Hour), pod("harbour", "bell", 0)
	before.UID, after.UID = "1", "1"
	handler.update(before, after)
	require.Empty(t, out.String(), "the same pod")
	after.UID = "2"
	handler.update(before, after)
	require.Equal(t, "another harbour/bell\n", out.String())
	require.Equal(t, 1, c.queue.Len(), "each update is a key")
}

func TestTryATombstoneNeedNotHaveThePod(t *testing.T) {
	c := newController(t, io.Discard)
	require.NotPanics(t, func() { c.enqueue(cache.DeletedFinalStateUnknown{Key: "coast/bell"}) }, "a tombstone has a key, and perhaps no pod")
	key, _ := c.queue.Get()
	require.Equal(t, "coast", key)
}

func TestTryItPrintsHowManyPodsAreInTheCache(t *testing.T) {
	var out testcluster.Output
	runs(t, serverWith(t, []*corev1.Pod{pod("harbour", "bell", time.Hour), pod("harbour", "buoy", time.Hour)}), &out)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "minutes") }, testcluster.TestTimeout, time.Millisecond)
	require.Equal(t, "pods in the cache: 2", out.Lines()[0], "the line before any other")
}

func TestTryAfterFiveRetriesItGivesUp(t *testing.T) {
	c := newController(t, full)
	for range 5 {
		c.queue.Add("harbour")
		require.True(t, c.processNextItem(t.Context()))
	}
	assert.Equal(t, 5, c.queue.NumRequeues("harbour"), "five failures are five retries")
	c.queue.Add("harbour")
	require.True(t, c.processNextItem(t.Context()))
	require.Zero(t, c.queue.NumRequeues("harbour"), "after the sixth failure the key is forgotten")
}

func TestTryTheNextLineComesAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newController(t, io.Discard)
		c.queue.Add("harbour")
		require.True(t, c.processNextItem(t.Context()))
		time.Sleep(59 * time.Second)
		synctest.Wait()
		require.Zero(t, c.queue.Len(), "the minute isn't over")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, 1, c.queue.Len(), "after a minute the key is back")
	})
}

func TestTrySeveralWorkersDontWaitForEachOther(t *testing.T) {
	out := &pair{begun: make(chan struct{}), alone: make(chan bool, 2)}
	runs(t, serverWith(t, []*corev1.Pod{pod("harbour", "bell", time.Hour), pod("coast", "lamp", time.Hour)}), out)
	require.False(t, <-out.alone, "one key waits for the other")
}

// pair is an output whose lines come in pairs: one waits for the next, for a while.
type pair struct {
	begun chan struct{}
	alone chan bool
}

func (p *pair) Write(line []byte) (int, error) {
	select {
	case p.begun <- struct{}{}:
		p.alone <- false
	case <-p.begun:
	case <-time.After(2 * time.Second): // luck: it runs out only where the try is not solved, and a learner waits for it
		p.alone <- true
	}
	return len(line), nil
}
