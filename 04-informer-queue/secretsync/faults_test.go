package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/hacking-a-controller/testcluster"
)

// churn changes sources and targets, calls the function before each change, and
// waits for the end that there must be, with what else there should be.
func churn(s *env, before func(), want map[string]string) {
	s.t.Helper()
	for i := range 3 {
		s.target(fmt.Sprintf("harbour-%d", i))
	}
	for step := range 24 {
		before()
		name := fmt.Sprintf("db-%d", step%6)
		switch {
		case step == 18: // db-0
			s.delete("source/" + name)
			delete(want, "harbour-0/"+name)
			delete(want, "harbour-1/"+name)
			continue
		case step == 12:
			s.annotateNamespace("harbour-2", "null")
		case step < 6:
			s.source(name, "")
		}
		s.set("source/"+name, fmt.Sprint(step))
		want["harbour-0/"+name] = fmt.Sprintf("key=%d", step)
		want["harbour-1/"+name] = fmt.Sprintf("key=%d", step)
	}
	s.becomes(want)
}

func TestFaults(t *testing.T) {
	c := testcluster.Shared(t)
	for name, run := range map[string]func(*testing.T, *testcluster.Cluster){
		"the connection is dropped, again and again":        connectionDropped,
		"everything changes while it is down":               changesWhileDown,
		"a copy changes just before it is updated":          conflictOnUpdate,
		"a copy is given up just before it is deleted":      conflictOnDelete,
		"a copy is deleted just before it is updated":       goneBeforeUpdate,
		"a foreign secret comes just before the copy":       alreadyExists,
		"the cache does not show the copy that is there":    blindCache,
		"the cache does not show the source that is there":  laggingWatch,
		"a namespace begins to end just before the copy":    terminatesFirst,
		"a reconcile panics":                                panics,
		"it is stopped in the middle of a write":            stopped,
		"a finalizer keeps the copy that is to be replaced": finalizer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, c)
		})
	}
}

func connectionDropped(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "dropped")
	proxy, through := testcluster.StartProxy(t, c.Config)
	s.config = through
	s.start()
	churn(s, proxy.Cut, map[string]string{})
}

func changesWhileDown(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "down")
	for _, name := range []string{"changed", "deleted", "unmarked", "same", "anew"} {
		s.source(name, "old")
	}
	s.target("harbour")
	s.target("coast")
	want := map[string]string{}
	for _, name := range []string{"changed", "deleted", "unmarked", "same", "anew"} {
		want["harbour/"+name], want["coast/"+name] = "key=old", "key=old"
	}
	stop := s.start()
	s.becomes(want)
	stop()

	s.set("source/changed", "new")
	s.delete("source/deleted")
	s.patch("source/unmarked", string(s.annotation("null")))
	s.delete("source/anew")
	s.source("anew", "new")
	s.set("harbour/same", "forged")
	s.annotateNamespace("coast", "null")
	s.target("island")
	stop = s.start()
	s.becomes(map[string]string{
		"harbour/changed": "key=new", "harbour/same": "key=old", "harbour/anew": "key=new",
		"island/changed": "key=new", "island/same": "key=old", "island/anew": "key=new",
	})
	stop()

	s.delete("harbour/same")
	s.start()
	s.becomes(map[string]string{
		"harbour/changed": "key=new", "harbour/same": "key=old", "harbour/anew": "key=new",
		"island/changed": "key=new", "island/same": "key=old", "island/anew": "key=new",
	})
}

func conflictOnUpdate(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "conflict")
	s.source("db", "tide")
	s.target("harbour")
	requests := &ledger{}
	stop := s.start(before("PUT", "/db", func() { s.patch("harbour/db", `{"metadata":{"labels":{"team":"coast"}}}`) }), requests.watch)
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	s.set("source/db", "ebb")
	s.becomes(map[string]string{"harbour/db": "key=ebb"})
	stop() // and so wait for the last answer
	assert.Equal(t, []string{"POST 201", "PUT 409", "PUT 200"}, firsts(requests.answers()))
	assert.Equal(t, "coast", s.get("harbour/db").Labels["team"], "the update did not undo what was done meanwhile")
	assert.NotContains(t, s.log.String(), "trying again later", "this is not a failure")
}

func conflictOnDelete(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "kept")
	s.source("db", "tide")
	s.target("harbour")
	requests := &ledger{}
	// Without the label, the secret is no longer ours.
	stop := s.start(before("DELETE", "/db", func() { s.patch("harbour/db", `{"metadata":{"labels":null}}`) }), requests.watch)
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	s.delete("source/db")
	require.Eventually(t, func() bool { return len(firsts(requests.answers())) == 2 }, testcluster.TestTimeout, 20*time.Millisecond)
	require.Equal(t, []string{"POST 201", "DELETE 409"}, firsts(requests.answers()))
	s.becomes(map[string]string{"harbour/db": "key=tide foreign"})
	stop()
	assert.Len(t, firsts(requests.answers()), 2, "it was attempted once")
}

func goneBeforeUpdate(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "vanished")
	s.source("db", "tide")
	s.target("harbour")
	s.start(before("PUT", "/db", func() { s.delete("harbour/db") }))
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	s.set("source/db", "ebb")
	s.becomes(map[string]string{"harbour/db": "key=ebb"})
}

func alreadyExists(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "first")
	s.source("db", "tide")
	s.target("harbour")
	s.start(before("POST", "", func() { s.create("harbour/db", "mine") }))
	eventsOf(s, 1)
	s.becomes(map[string]string{"harbour/db": "key=mine foreign"})
}

func blindCache(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "blind")
	s.source("db", "tide")
	s.target("harbour")
	stop := s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	stop()

	// A watch that is far behind: the cache of the copies stays empty.
	s.set("source/db", "ebb")
	requests := &ledger{}
	stop = s.start(through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if query := request.URL.Query(); query.Get("labelSelector") == selector {
			request = request.Clone(request.Context())
			query.Set("labelSelector", "nothing=here")
			request.URL.RawQuery = query.Encode()
		}
		return next.RoundTrip(request)
	}), requests.watch)
	s.becomes(map[string]string{"harbour/db": "key=ebb"})
	stop()
	assert.Equal(t, []string{"POST 409", "PUT 200"}, requests.answers())
	eventsOf(s, 0)
}

func laggingWatch(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "lagging")
	s.source("db", "tide")
	s.target("harbour")
	stop := s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	stop()

	// The cache of the sources has none of them. To the program, db is gone.
	requests := &ledger{}
	var live atomic.Bool
	stop = s.start(through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		path, query := request.URL.Path, request.URL.Query()
		switch {
		case strings.HasSuffix(path, s.rules.sourceNamespace+"/secrets/db"):
			defer live.Store(true)
		case strings.HasSuffix(path, s.rules.sourceNamespace+"/secrets"):
			request = request.Clone(request.Context())
			query.Set("fieldSelector", "metadata.name=nothing")
			request.URL.RawQuery = query.Encode()
		}
		return next.RoundTrip(request)
	}), requests.watch)
	require.Eventually(t, func() bool { return live.Load() || len(requests.all()) > 0 }, testcluster.TestTimeout, 20*time.Millisecond)
	stop() // when the reconcile has ended
	assert.Empty(t, requests.all())
	s.becomes(map[string]string{"harbour/db": "key=tide"})

	s.delete("source/db")
	s.start()
	s.becomes(map[string]string{})
}

func terminatesFirst(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "closing")
	s.source("db", "tide")
	s.target("harbour")
	requests := &ledger{}
	stop := s.startWith(1, 0, before("POST", "", func() {
		assert.NoError(t, s.client.CoreV1().Namespaces().Delete(t.Context(), s.name+"-harbour", metav1.DeleteOptions{}))
	}), requests.watch)
	require.Eventually(t, func() bool { return len(requests.answers()) == 1 }, testcluster.TestTimeout, 20*time.Millisecond)
	s.target("coast")
	s.becomes(map[string]string{"coast/db": "key=tide"})
	stop()
	assert.Equal(t, []string{"POST 403", "POST 201"}, firsts(requests.answers()))
	assert.NotContains(t, s.log.String(), "trying again later")
}

func panics(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "panics")
	s.source("db", "tide")
	s.source("mail", "post")
	s.target("harbour")
	s.startWith(1, 0, before("POST", "", func() { panic("nobody thought of this") }))
	s.becomes(map[string]string{"harbour/db": "key=tide", "harbour/mail": "key=post"})
	assert.Contains(t, s.log.String(), "reconcile panicked: nobody thought of this")
}

func stopped(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "stopped")
	s.target("harbour")
	for i := range 10 {
		s.source(fmt.Sprintf("db-%d", i), "tide")
	}
	writing, release := make(chan struct{}), make(chan struct{})
	stop := s.startWith(1, 0, before("POST", "", func() {
		close(writing)
		<-release
	}))
	<-writing
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stop()
	}()
	// It waits for the write that has begun ...
	select {
	case <-ended:
		assert.Fail(t, "it ended before the key was processed")
	case <-time.After(200 * time.Millisecond): // enough to see a program that does not wait
	}
	close(release)
	<-ended
	// ... and begins no other.
	state, err := s.state(t.Context())
	require.NoError(t, err)
	assert.Len(t, state, 1)
	assert.Equal(t, 1, strings.Count(s.out.String(), "created"))
}

func finalizer(t *testing.T, c *testcluster.Cluster) {
	s := newEnv(t, c, "finalizer")
	s.source("db", "tide")
	s.target("harbour")
	s.start()
	s.becomes(map[string]string{"harbour/db": "key=tide"})
	s.patch("harbour/db", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	s.patch("harbour/db", `{"immutable":true,"stringData":{"key":"forged"}}`)
	s.becomes(map[string]string{"harbour/db": "key=forged immutable deleting"})
	s.patch("harbour/db", `{"metadata":{"finalizers":null}}`)
	s.becomes(map[string]string{"harbour/db": "key=tide"})
}
