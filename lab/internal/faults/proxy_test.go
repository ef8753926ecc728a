package faults

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

const watchPods = "/api/v1/pods?watch=true&resourceVersion=5"

// env is a proxy before an API server whose only events are those that a test emits.
type env struct {
	*set
	proxy  *proxy
	stream io.Writer // to the newest watch
	log    bytes.Buffer
}

// reply is what a program gets.
type reply struct {
	*httptest.ResponseRecorder
	end atomic.Value
}

// ended says how the request ended: complete, or cut. It is empty while it runs.
func (r *reply) ended() string {
	end, _ := r.end.Load().(string)
	return end
}

// run runs a test in a bubble, where time is fake and nothing that could happen is left out.
func run(t *testing.T, test func(t *testing.T, e *env)) {
	synctest.Test(t, func(t *testing.T) {
		e := &env{set: newSet()}
		e.proxy = newProxy(e.set, &url.URL{Scheme: "https", Host: "server"}, e, &e.log)
		test(t, e)
	})
}

// RoundTrip is the API server. Any answer but a watch is "live".
func (e *env) RoundTrip(r *http.Request) (*http.Response, error) {
	response := &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader("live"))}
	if r.URL.Query().Has("watch") {
		events, stream := io.Pipe()
		context.AfterFunc(r.Context(), func() { _ = events.CloseWithError(r.Context().Err()) })
		response.Body, e.stream = events, stream
	}
	return response, r.Context().Err()
}

// get begins a request of the program first, which ends with the test.
func (e *env) get(t *testing.T, path string) *reply {
	a := &reply{ResponseRecorder: httptest.NewRecorder()}
	ctx := context.WithValue(t.Context(), http.ServerContextKey, &http.Server{})
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.Header.Set("User-Agent", "first/v0.0.0 (linux/amd64)")
	go func() {
		defer func() {
			if recover() != nil {
				a.end.Store("cut")
			}
		}()
		e.proxy.ServeHTTP(a, r)
		a.end.Store("complete")
	}()
	synctest.Wait()
	return a
}

// emit has an event arrive at the proxy.
func (e *env) emit(event string) {
	go func() { _, _ = io.WriteString(e.stream, event) }()
	synctest.Wait()
}

func TestAFrozenWatchIsLateAndLosesNothing(t *testing.T) {
	run(t, func(t *testing.T, e *env) {
		pods := e.get(t, watchPods)
		e.emit("one ")
		assert.Equal(t, "one ", pods.Body.String())

		e.add(Fault{Kind: Freeze, Target: "pods"})
		e.emit("two ")
		assert.Equal(t, "one ", pods.Body.String())
		assert.Equal(t, "live", e.get(t, "/api/v1/pods").Body.String(), "a live read is not frozen")

		e.remove(func(Fault) bool { return true })
		e.emit("three")
		assert.Equal(t, "one two three", pods.Body.String())
		assert.Empty(t, pods.ended())
	})
}

func TestACutEndsWhatRunsAndAnswersNothingNew(t *testing.T) {
	for name, frozen := range map[string]bool{"a watch": false, "a frozen watch": true} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, e *env) {
				if frozen {
					e.add(Fault{Kind: Freeze, Target: "pods"})
				}
				pods, secrets := e.get(t, watchPods), e.get(t, "/api/v1/secrets?watch=true")
				e.emit("one")
				e.add(Fault{Kind: Cut, Target: "pods"})
				synctest.Wait()
				assert.Equal(t, "cut", pods.ended())
				assert.Empty(t, secrets.ended())
				assert.Equal(t, "one", secrets.Body.String())
				assert.Equal(t, "cut", e.get(t, "/api/v1/pods").ended())
				assert.Equal(t, "complete", e.get(t, "/api/v1/secrets").ended())
			})
		})
	}
}

func TestASlowRequestWaitsUntilItIsHealed(t *testing.T) {
	run(t, func(t *testing.T, e *env) {
		e.add(Fault{Kind: Slow, Delay: time.Minute})
		first := e.get(t, "/readyz")
		time.Sleep(time.Minute - 1) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.Empty(t, first.ended())
		time.Sleep(time.Nanosecond) //nolint:forbidigo // fake time
		synctest.Wait()
		assert.Equal(t, "complete", first.ended())

		second := e.get(t, "/readyz")
		assert.Empty(t, second.ended())
		e.remove(func(Fault) bool { return true })
		synctest.Wait()
		assert.Equal(t, "complete", second.ended())
	})
}

func TestARequestIsRefusedAsTheAPIServerDoesIt(t *testing.T) {
	run(t, func(t *testing.T, e *env) {
		e.add(Fault{Kind: Refuse, Code: http.StatusForbidden, Target: "pods", Verb: "list"})
		refused := e.get(t, "/api/v1/pods?limit=1")
		assert.Equal(t, http.StatusForbidden, refused.Code)
		assert.Contains(t, refused.Body.String(), `"kind":"Status"`)
		assert.Contains(t, refused.Body.String(), `"reason":"Forbidden"`)
		e.get(t, "/api/v1/namespaces/default/pods/bell")
		assert.Regexp(t, `^\S+ first GET /api/v1/pods\?limit=1 403\n\S+ first GET /api/v1/namespaces/default/pods/bell 200\n$`, e.log.String())
	})
}

func TestAnExpiredWatchBeginsWellAndHasAnError(t *testing.T) {
	run(t, func(t *testing.T, e *env) {
		open := e.get(t, watchPods)
		e.add(Fault{Kind: Expire, Version: 9})
		expired := e.get(t, watchPods)
		assert.Equal(t, http.StatusOK, expired.Code)
		assert.JSONEq(t, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
			`"message":"too old resource version: 5 (9)","reason":"Expired","code":410}}`, expired.Body.String())
		assert.Empty(t, open.ended(), "an open watch goes on")
	})
}
