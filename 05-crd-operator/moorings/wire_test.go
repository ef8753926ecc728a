package main_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"example.com/hacking-a-controller/testcluster"
)

// wire is between the program, the desk and the API server. It records requests, and causes the faults of networks
// and servers.
type wire struct {
	*testing.T
	office, server *httptest.Server
	kubeconfig     string       // leads to the server
	gate           sync.RWMutex // is locked while watches show nothing new

	mu       sync.Mutex
	requests []request
	fault    func(request) fault // nil is none
	oldest   uint64              // a watch from an older version gets a 410
}

// request is a request of the program.
type request struct {
	to         string // desk or server
	verb, path string // a verb is a method or, of a GET from the server, LIST or WATCH
}

func (r request) isWrite() bool { return !slices.Contains([]string{"GET", "LIST", "WATCH"}, r.verb) }
func (r request) isLook() bool  { return r.to == "desk" && r.verb == "GET" }

// fault is what happens to a request in place of serve.
type fault func(w http.ResponseWriter, r *http.Request, serve http.Handler)

// The faults.
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
)

// answers is a fault, too. Both the desk and the API server could have written this body.
func answers(code int) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"message":"a fault of the judge","error":"a fault of the judge"}`, code)
	}
}

// newWire starts two servers. The one of the API server lets in a client with the token, as a user who may do no more
// than an operator needs.
func newWire(t *testing.T, desk http.Handler, config *rest.Config, token string) *wire {
	w := &wire{T: t}
	w.office = w.listen("desk", desk)
	w.office.Start()
	target, err := url.Parse(config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
		Transport:     transport,
		FlushInterval: -1, // a watch does not end
		ErrorLog:      log.New(io.Discard, "", 0),
		ModifyResponse: func(response *http.Response) error {
			if response.Request.URL.Query().Has("watch") {
				response.Body = gated{response.Body, &w.gate}
			}
			return nil
		},
	}
	w.server = w.listen("server", http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			answers(http.StatusUnauthorized)(answer, r, nil)
		case w.tooOld(r):
			answer.Header().Set("Content-Type", "application/json")
			fmt.Fprintln(answer, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`)
		default:
			forward.ServeHTTP(answer, r)
		}
	}))
	certificate, err := certificate()
	require.NoError(t, err)
	w.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate.pair}, MinVersion: tls.VersionTLS12}
	w.server.StartTLS()
	w.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(w.kubeconfig, kubeconfig(w.server.URL, certificate.pem, token), 0o600))
	return w
}

// kubeconfig is one in JSON, which is YAML, too: a program needs no library to read it.
func kubeconfig(server string, authority []byte, token string) []byte {
	type object = map[string]any
	content, _ := json.Marshal(object{ // strings can always be encoded
		"apiVersion": "v1", "kind": "Config", "current-context": "judge",
		"clusters": []object{{"name": "judge", "cluster": object{"server": server, "certificate-authority-data": authority}}},
		"users":    []object{{"name": "judge", "user": object{"token": token}}},
		"contexts": []object{{"name": "judge", "context": object{"cluster": "judge", "user": "judge"}}},
	})
	return content
}

// certificate is that of all servers, which takes a moment to make.
var certificate = sync.OnceValues(func() (made struct {
	pair tls.Certificate
	pem  []byte
}, err error) {
	var key []byte
	if made.pem, key, err = certutil.GenerateSelfSignedCertKey("127.0.0.1", nil, nil); err == nil {
		made.pair, err = tls.X509KeyPair(made.pem, key)
	}
	return made, err
})

// gated is the body of a watch.
type gated struct {
	io.ReadCloser
	gate *sync.RWMutex
}

func (g gated) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	g.gate.RLock()
	defer g.gate.RUnlock()
	return n, err
}

// listen returns a server that isn't started yet.
func (w *wire) listen(to string, serve http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		happens := w.record(request{to, verb(r), r.URL.Path})
		if happens == nil {
			serve.ServeHTTP(answer, r)
			return
		}
		happens(answer, r, serve)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.Cleanup(server.Close)
	w.Cleanup(server.CloseClientConnections)
	return server
}

func verb(r *http.Request) string {
	query := r.URL.Query()
	switch isList := path.Base(r.URL.Path) == "moorings"; {
	case r.Method != http.MethodGet || !isList:
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

// all returns the requests since a number of them.
func (w *wire) all(since int) []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests[since:])
}

func (w *wire) count(since int, is func(request) bool) (count int) {
	for _, r := range w.all(since) {
		if is(r) {
			count++
		}
	}
	return count
}

// cause decides from now on what happens to each request.
func (w *wire) cause(decide func(request) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = decide
}

// everySecond has the fault happen to the first, the third, ... of each kind of request that it's for.
func (w *wire) everySecond(happens fault, is func(request) bool) {
	seen := map[string]int{} // w.mu guards it
	w.cause(func(r request) fault {
		kind := r.to + r.verb + r.path
		if !is(r) {
			return nil
		}
		if seen[kind]++; seen[kind]%2 == 1 {
			return happens
		}
		return nil
	})
}

// freeze holds back what watches have to tell, until the returned function is called.
func (w *wire) freeze() (thaw func()) {
	w.gate.Lock()
	thaw = sync.OnceFunc(w.gate.Unlock)
	w.Cleanup(thaw)
	return thaw
}

// cut breaks all connections to the server, and lets no new one in.
func (w *wire) cut() {
	w.cause(func(r request) fault {
		if r.to == "server" {
			return breaks
		}
		return nil
	})
	w.server.CloseClientConnections()
}

// heal ends what cut began. Meanwhile, the server has forgotten what comes before a version.
func (w *wire) heal(version string) {
	w.cause(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.oldest, _ = strconv.ParseUint(version, 10, 64)
}

func (w *wire) tooOld(r *http.Request) bool {
	version, _ := strconv.ParseUint(r.URL.Query().Get("resourceVersion"), 10, 64) // 0 is none
	w.mu.Lock()
	defer w.mu.Unlock()
	return verb(r) == "WATCH" && version != 0 && version < w.oldest
}

// last are the last writes of the program, for a message.
func (w *wire) last() string {
	var done []string
	for _, r := range w.all(0) {
		if r.isWrite() {
			done = append(done, r.to+" "+r.verb+" "+r.path)
		}
	}
	return fmt.Sprintf("%q", done[max(0, len(done)-5):])
}

// tail are the last lines that a program has printed.
func tail(output *testcluster.Output) string {
	lines := output.Lines()
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
