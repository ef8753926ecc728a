//go:build try

package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// What the lesson of part 1 asks the reader to write. Until then, these tests fail.

func TestTryOnlyPodsThatRunCount(t *testing.T) {
	var out strings.Builder
	running, pending := pod("harbour", "bell", time.Hour), pod("harbour", "buoy", time.Hour)
	running.Status.Phase, pending.Status.Phase = corev1.PodRunning, corev1.PodPending
	c := newController(&out, running, pending)
	defer c.queue.ShutDown()
	require.NoError(t, c.reconcile(t.Context(), "harbour"))
	require.Contains(t, out.String(), "have been running for 60.", "one of the two pods runs")
}

func TestTryAResyncIsNoReasonToReconcile(t *testing.T) {
	c := newController(io.Discard)
	defer c.queue.ShutDown()
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

func TestTryAfterFiveRetriesItGivesUp(t *testing.T) {
	c := newController(full{})
	defer c.queue.ShutDown()
	for range 5 {
		c.queue.Add("harbour")
		require.True(t, c.processNextItem(t.Context()))
	}
	assert.Equal(t, 5, c.queue.NumRequeues("harbour"), "five failures are five retries")
	c.queue.Add("harbour")
	require.True(t, c.processNextItem(t.Context()))
	require.Zero(t, c.queue.NumRequeues("harbour"), "after the sixth failure the key is forgotten")
}
