package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// testTimeout is how long a test waits for what the program is to do.
var testTimeout = time.Minute

// start runs the program inside the test until it ends, and returns the lines that
// it prints as they come.
func start(t *testing.T, config *rest.Config) (line func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, config, writer)
		writer.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_, _ = io.Copy(io.Discard, reader)
		assert.NoError(t, <-ended)
	})
	scanner := bufio.NewScanner(reader)
	return func() string {
		t.Helper()
		require.True(t, scanner.Scan(), "the program printed no further line")
		return scanner.Text()
	}
}

// serve answers the watches one after the other. The last answer stays, and a list has one pod.
func serve(t *testing.T, watches ...http.HandlerFunc) *rest.Config {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("watch") {
			list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*pod("a")}}
			writeJSON(w, list)
			return
		}
		next := watches[0]
		if len(watches) > 1 {
			watches = watches[1:]
		}
		next(w, r)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", CreationTimestamp: metav1.Now()},
	}
}

func writeJSON(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}

// stream sends events, and ends the watch.
func stream(events ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, event := range events {
			writeJSON(w, event)
		}
	}
}

func added(name string) any { return map[string]any{"type": "ADDED", "object": pod(name)} }

func gone() any {
	return map[string]any{"type": "ERROR", "object": metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusGone, Message: "too old resource version",
	}}
}

func refuse(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }
