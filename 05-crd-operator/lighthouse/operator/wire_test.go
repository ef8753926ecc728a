package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/hacking-a-controller/05-crd-operator/lighthouse/office/lightlist"
	"example.com/hacking-a-controller/testcluster"
)

// wire is between an operator and those it calls. It counts the calls that matter: all to the office,
// and those to the API server that write. One of them can have a fault. An operator makes one call at a time.
type wire struct {
	at    int // the call that has it, counted from 1
	fault fault

	calls   []string
	dead    bool
	refuses func(*http.Request) bool // what a fault leaves behind
}

// fault does something to a call, or to its answer.
type fault func(w *wire, r *http.Request, next http.RoundTripper) (*http.Response, error)

var errWire = errors.New("the network is in a bad mood")

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) {
		if !isCounted(r) {
			return next.RoundTrip(r)
		}
		if w.dead || w.refuses != nil && w.refuses(r) {
			return nil, errWire
		}
		if w.calls = append(w.calls, inWords(r)); len(w.calls) == w.at {
			return w.fault(w, r, next)
		}
		return next.RoundTrip(r)
	})
}

func isToOffice(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/lights") }
func isCounted(r *http.Request) bool  { return isToOffice(r) || r.Method != http.MethodGet }

// inWords is such as "PUT lighthouses/status" or "office: POST".
func inWords(r *http.Request) string {
	if isToOffice(r) {
		return "office: " + r.Method
	}
	_, resource, _ := strings.Cut(r.URL.Path, "/namespaces/")
	_, resource, _ = strings.Cut(resource, "/")
	return r.Method + " " + strings.Replace(resource, "/eddystone", "", 1)
}

func dieBefore(w *wire, _ *http.Request, _ http.RoundTripper) (*http.Response, error) {
	w.dead = true
	return nil, errWire
}

func dieAfter(w *wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	w.dead = true
	return lose(w, r, next)
}

func lose(_ *wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	response, err := next.RoundTrip(r)
	if err == nil {
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	return nil, errWire
}

func drop(*wire, *http.Request, http.RoundTripper) (*http.Response, error) { return nil, errWire }

// answer is a fault of the API server: nothing is done, and it answers with this code.
func answer(code int, reason string) fault {
	return func(*wire, *http.Request, http.RoundTripper) (*http.Response, error) {
		recorder := httptest.NewRecorder()
		recorder.Header().Set("Content-Type", "application/json")
		recorder.WriteHeader(code)
		_, err := fmt.Fprintf(recorder, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "code": %d}`, reason, code)
		return recorder.Result(), err
	}
}

// officeFault is a fault of the office, which does it itself. A client waits for a call that hangs until
// its time-out; here it hangs up as soon as the office has the call.
func (c *coast) officeFault(f lightlist.Fault) fault {
	return func(_ *wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
		c.next(f)
		if f != lightlist.Hang && f != lightlist.Late {
			return next.RoundTrip(r)
		}
		ctx, hangUp := context.WithCancel(r.Context())
		defer hangUp()
		go func() {
			_ = wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (taken bool, err error) {
				c.list.Set(func(s *lightlist.Settings) { taken = len(s.Next) == 0 })
				return taken, nil
			})
			hangUp()
		}()
		return next.RoundTrip(r.WithContext(ctx))
	}
}

// down is an office that is down from this call on, for some minutes.
func (c *coast) down(w *wire, _ *http.Request, _ http.RoundTripper) (*http.Response, error) {
	until := c.clock.Now().Add(5 * time.Minute)
	w.refuses = func(r *http.Request) bool { return isToOffice(r) && c.clock.Now().Before(until) }
	return nil, errWire
}

// hold is a call that waits, before it is made or before its answer is here.
type hold struct {
	held, release chan struct{}
}

func newHold() hold { return hold{make(chan struct{}), make(chan struct{})} }

func (h hold) wait() {
	close(h.held)
	<-h.release
}

func (h hold) before(_ *wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	h.wait()
	return next.RoundTrip(r)
}

func (h hold) after(_ *wire, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	defer h.wait()
	return next.RoundTrip(r)
}
