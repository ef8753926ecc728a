package main_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// wire is between the program and the servers that it calls, the desk and the API server. It records the requests, and
// a test may replace some of them by faults.
type wire struct {
	office, server *httptest.Server
	watches        *testcluster.Gate // holds back what watches bring

	mu       sync.Mutex
	requests []request
	fault    func(request) fault // returns nil for a request that nothing happens to
}

// request is a request of the program. Its verb is a method or, if it's a GET from the API server, LIST or WATCH.
type request struct{ to, verb, path string }

func (r request) String() string  { return r.verb + " " + r.path + " to the " + r.to }
func (r request) isWrite() bool   { return !slices.Contains([]string{"GET", "LIST", "WATCH"}, r.verb) }
func (r request) isRead() bool    { return r.verb == "LIST" || r.verb == "WATCH" }
func (r request) isCall() bool    { return r.to == "desk" }
func (r request) isBooking() bool { return r.to == "desk" && r.verb == "POST" }
func (r request) isLook() bool    { return r.to == "desk" && r.verb == "GET" }

// fault is what happens to a request in place of serve.
type fault func(w http.ResponseWriter, r *http.Request, serve http.Handler)

var (
	breaks fault = func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
	loses  fault = func(_ http.ResponseWriter, r *http.Request, serve http.Handler) {
		serve.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	hangs fault = func(_ http.ResponseWriter, r *http.Request, serve http.Handler) {
		serve.ServeHTTP(httptest.NewRecorder(), r)
		<-r.Context().Done()
	}
	expires = answers(http.StatusOK, `{"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410}}`)
)

// answers returns a fault: nothing is done, and this is the answer.
func answers(code int, body string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintln(w, body)
	}
}

// fails returns a fault. Both the desk and the API server could answer so.
func fails(code int) fault {
	return answers(code, fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "message": "the judge", "error": "the judge"}`, code))
}

// newWire starts two servers. The one in front of the API server lets in who has the token, and takes the path as allowed.
func newWire(t *testing.T, desk http.Handler, config *rest.Config, token string, allowed func(path string) bool) *wire {
	w := &wire{watches: testcluster.NewGate(t, func(r *http.Request) bool { return r.URL.Query().Has("watch") })}
	config = rest.CopyConfig(config)
	w.watches.Wrap(config)
	target, err := url.Parse(config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	forward := &httputil.ReverseProxy{Transport: transport, ErrorLog: silent, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Authorization")
	}}
	w.office = w.listen(t, "desk", desk)
	w.office.Start()
	w.server = w.listen(t, "server", http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			fails(http.StatusUnauthorized)(answer, r, nil)
		case !allowed(r.URL.Path):
			fails(http.StatusForbidden)(answer, r, nil)
		default:
			forward.ServeHTTP(answer, r)
		}
	}))
	w.server.StartTLS()
	return w
}

var silent = log.New(io.Discard, "", 0)

// listen returns a server that isn't started yet.
func (w *wire) listen(t *testing.T, to string, serve http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if happens := w.record(request{to, verb(r), r.URL.Path}); happens != nil {
			happens(answer, r, serve)
			return
		}
		serve.ServeHTTP(answer, r)
	}))
	server.Config.ErrorLog = silent
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server
}

func verb(r *http.Request) string {
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet || path.Base(r.URL.Path) != "moorings":
		return r.Method
	case query.Has("watch") && query.Get("sendInitialEvents") != "true":
		return "WATCH"
	}
	return "LIST" // or a watch that begins with all existing objects
}

func (w *wire) record(r request) fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r)
	if w.fault == nil {
		return nil
	}
	return w.fault(r)
}

// since returns the requests after the first ones, of all kinds or of one.
func (w *wire) since(first int, kind ...func(request) bool) (requests []request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests[first:] {
		if len(kind) == 0 || kind[0](r) {
			requests = append(requests, r)
		}
	}
	return requests
}

// cause decides from now on what happens to each request.
func (w *wire) cause(decide func(request) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = decide
}

// inTurn is for cause. To each request of a kind one of the faults happens, and another one if it's sent again; nil is none.
func inTurn(kind func(request) bool, faults ...fault) func(request) fault {
	sent := map[request]int{} // the mutex of the wire guards it
	return func(r request) fault {
		if !kind(r) {
			return nil
		}
		sent[r]++
		return faults[(sent[r]-1)%len(faults)]
	}
}
