//go:build try

package main

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the lesson asks the reader to write. Until then, these tests fail.

// versions runs the program with watches that are served one after the other, and returns the version
// that the next one is asked for.
func versions(t *testing.T, watches ...http.HandlerFunc) (next func() string) {
	t.Helper()
	queries := make(chan string)
	for i, watch := range watches {
		watches[i] = func(w http.ResponseWriter, r *http.Request) {
			select {
			case queries <- r.URL.Query().Get("resourceVersion"):
				watch(w, r)
			case <-r.Context().Done():
			}
		}
	}
	config, ended := serve(t, watches...), make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	go func() { ended <- run(ctx, config, io.Discard) }()
	t.Cleanup(func() { cancel(); assert.NoError(t, <-ended) })
	return func() string {
		t.Helper()
		select {
		case version := <-queries:
			return version
		case <-ctx.Done():
			require.Fail(t, "the program opened no further watch")
			return ""
		}
	}
}

// at is an event with a pod at a version.
func at(version, name string) any {
	p := pod(name)
	p.ResourceVersion = version
	return map[string]any{"type": "ADDED", "object": p}
}

func TestTryAClosedChannelEndsTheWatch(t *testing.T) {
	line := start(t, serve(t, stream(added("bell")), stream(added("buoy"))))
	require.Equal(t, "ADDED pod bell in namespace default", line())
	require.Contains(t, line(), "Pods in namespace default")
	require.Equal(t, "ADDED pod buoy in namespace default", line(), "the next line is of the next watch")
}

func TestTryItPausesBeforeTheNextWatch(t *testing.T) {
	begin := time.Now()
	next := versions(t, refuse, stream(), refuse, stream())
	for range 4 {
		next()
	}
	require.Greater(t, time.Since(begin), 250*time.Millisecond, "three pauses of 100 ms lie between four attempts, whether a watch fails or ends")
}

func TestTryTheNextWatchBeginsWhereTheLastOneEnded(t *testing.T) {
	next := versions(t, stream(at("7", "bell"), at("9", "buoy")), stream())
	assert.Empty(t, next())
	require.Equal(t, "9", next(), "the version of the second watch")
}

func TestTryAnErrorEventDropsTheVersion(t *testing.T) {
	next := versions(t, stream(at("7", "bell")), stream(gone()), stream(at("9", "buoy")), stream())
	assert.Empty(t, next())
	assert.Equal(t, "7", next())
	require.Empty(t, next(), "the version of the watch after a 410")
	require.Equal(t, "9", next())
}

func TestTryAnErrorEventEndsItsWatch(t *testing.T) {
	stopped := make(chan struct{})
	line := start(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		stream(gone(), added("bell"))(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(stopped)
	}, stream(added("buoy"))))
	require.Contains(t, line(), "ERROR")
	require.Equal(t, "ADDED pod buoy in namespace default", line(), "what comes after an ERROR event is of the next watch")
	select {
	case <-stopped:
	case <-time.After(10 * time.Second): // luck: only a program that forgets to stop it waits so long
		require.Fail(t, "the watch with the ERROR event is still open: stop it after the inner loop; a defer waits until run returns")
	}
}
