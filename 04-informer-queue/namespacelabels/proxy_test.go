package main_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// proxy is between the program and the API server. It records every request, and can cause
// the faults of networks and servers.
type proxy struct {
	kubeconfig string // points to the proxy

	mu       sync.Mutex
	requests []request
	cuts     []context.CancelFunc // of each request since the last cut
	gate     chan struct{}        // closed while requests may pass
	oldest   uint64               // a watch from an older version gets a 410
	before   func(method, path string) (status int)
}

// request is a request of the program. Its status is 0 until the server has answered.
type request struct {
	method, path string
	reads        reads
	status       int
}

type reads string

const (
	get   reads = "GET"
	list  reads = "LIST"
	watch reads = "WATCH"
)

func startProxy(t *testing.T, config *rest.Config) *proxy {
	target, err := url.Parse(config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	p := &proxy{gate: make(chan struct{}), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	close(p.gate)
	forward := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:      transport,
		FlushInterval:  -1, // a watch does not end
		ErrorLog:       log.New(io.Discard, "", 0),
		ModifyResponse: p.answered,
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, forward) }))
	server.Config.ErrorLog = forward.ErrorLog
	server.Start()
	t.Cleanup(func() {
		p.cut()
		server.Close()
	})
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"judge": {Server: server.URL}},
		Contexts:       map[string]*clientcmdapi.Context{"judge": {Cluster: "judge"}},
		CurrentContext: "judge",
	}, p.kubeconfig))
	return p
}

// number is the context key of a request's index in requests.
type number struct{}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	p.mu.Lock()
	p.cuts = append(p.cuts, cancel)
	ctx = context.WithValue(ctx, number{}, len(p.requests))
	p.requests = append(p.requests, request{method: r.Method, path: r.URL.Path, reads: readsOf(r)})
	gate, before := p.gate, p.before
	p.mu.Unlock()

	select {
	case <-gate:
	case <-ctx.Done():
		panic(http.ErrAbortHandler) // drops the connection
	}
	if p.tooOld(r) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`)
		return
	}
	if before != nil {
		if status := before(r.Method, r.URL.Path); status != 0 {
			http.Error(w, "the judge refuses this request", status)
			return
		}
	}
	forward.ServeHTTP(w, r.WithContext(ctx))
}

func readsOf(r *http.Request) reads {
	query := r.URL.Query()
	switch base := filepath.Base(r.URL.Path); {
	case r.Method != http.MethodGet:
		return ""
	case query.Get("watch") != "" && query.Get("watch") != "false" && query.Get("watch") != "0" && query.Get("sendInitialEvents") != "true":
		return watch
	case base == "namespaces" || base == "configmaps":
		return list // or a watch that begins with all existing objects
	}
	return get
}

func (p *proxy) answered(response *http.Response) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests[response.Request.Context().Value(number{}).(int)].status = response.StatusCode
	return nil
}

func (p *proxy) tooOld(r *http.Request) bool {
	version, err := strconv.ParseUint(r.URL.Query().Get("resourceVersion"), 10, 64)
	p.mu.Lock()
	defer p.mu.Unlock()
	return readsOf(r) == watch && err == nil && version != 0 && version < p.oldest
}

// cut drops all connections of the program.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cut := range p.cuts {
		cut()
	}
	p.cuts = nil
}

// hold drops all connections, and lets no request pass until the returned function is
// called.
func (p *proxy) hold() (release func()) {
	p.mu.Lock()
	gate := make(chan struct{})
	p.gate = gate
	p.mu.Unlock()
	p.cut()
	return sync.OnceFunc(func() { close(gate) })
}

// forget makes the server refuse watches from before a version.
func (p *proxy) forget(version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.oldest, _ = strconv.ParseUint(version, 10, 64)
}

// once calls do before the first request that has one of the methods and is about a ConfigMap
// in the namespace. If do returns a status other than 0, that is the response.
func (p *proxy) once(methods, namespace string, do func() (status int)) {
	var once sync.Once
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = func(method, path string) (status int) {
		if strings.Contains(methods, method) && strings.HasPrefix(path, "/api/v1/namespaces/"+namespace+"/configmaps") {
			once.Do(func() { status = do() })
		}
		return status
	}
}

// all returns the requests so far.
func (p *proxy) all() []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// count counts the requests of one kind, from the index since on.
func (p *proxy) count(since int, how reads) int {
	n := 0
	for _, r := range p.all()[since:] {
		if r.reads == how {
			n++
		}
	}
	return n
}

// writes returns the requests that write a namespace or a ConfigMap in it, from the index
// since on, such as "POST 201". The status shows whether the write succeeded.
func (p *proxy) writes(since int, namespace string) []string {
	var writes []string
	for _, r := range p.all()[since:] {
		path := r.path + "/"
		if r.reads == "" && (path == "/api/v1/namespaces/"+namespace+"/" || strings.HasPrefix(path, "/api/v1/namespaces/"+namespace+"/configmaps/")) {
			writes = append(writes, fmt.Sprint(r.method, " ", r.status))
		}
	}
	return writes
}

// accepted returns the writes that the server accepted.
func accepted(writes []string) []string {
	return slices.DeleteFunc(writes, func(w string) bool { return !strings.Contains(w, " 2") })
}
