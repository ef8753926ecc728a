package main_test

import (
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// proxy is between the program and the API server. It records every request, and can cause
// the faults of networks and servers.
type proxy struct {
	t          *testing.T
	server     *httptest.Server
	next       http.RoundTripper // to the API server
	kubeconfig string            // points to the proxy
	gate       sync.RWMutex      // is locked while no request may pass

	mu       sync.Mutex
	requests []request
	oldest   uint64 // a watch from an older version gets a 410
	before   func(method, path string) (status int)
}

// request is a request of the program. Its verb is its method or, of a GET, LIST or WATCH. Its status
// is 0 until the server has answered.
type request struct {
	verb, path string
	status     int
}

func startProxy(t *testing.T, config *rest.Config) *proxy {
	target, err := url.Parse(config.Host)
	require.NoError(t, err)
	next, err := rest.TransportFor(config)
	require.NoError(t, err)
	p := &proxy{t: t, next: next, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	p.server = httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     p,
		FlushInterval: -1, // a watch does not end
		ErrorLog:      log.New(io.Discard, "", 0),
	})
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.server.Start()
	t.Cleanup(p.server.Close)
	t.Cleanup(p.server.CloseClientConnections)
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"judge": {Server: p.server.URL}},
		Contexts:       map[string]*clientcmdapi.Context{"judge": {Cluster: "judge"}},
		CurrentContext: "judge",
	}, p.kubeconfig))
	return p
}

// refused is an answer with the reason and the code of a status.
const refused = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"the judge refuses this request"}`

var reasons = map[int]metav1.StatusReason{404: metav1.StatusReasonNotFound, 409: metav1.StatusReasonConflict, 500: metav1.StatusReasonInternalError}

const expired = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`

// RoundTrip passes a request on to the API server, or answers it.
func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	query, verb := r.URL.Query(), r.Method
	switch base := filepath.Base(r.URL.Path); {
	case verb != http.MethodGet:
	case query.Has("watch") && query.Get("watch") != "false" && query.Get("watch") != "0" && query.Get("sendInitialEvents") != "true":
		verb = "WATCH"
	case base == "namespaces" || base == "configmaps":
		verb = "LIST" // or a watch that begins with all existing objects
	}
	version, _ := strconv.ParseUint(query.Get("resourceVersion"), 10, 64) // 0 is none

	p.gate.RLock()
	p.mu.Lock()
	number := len(p.requests)
	p.requests = append(p.requests, request{verb: verb, path: r.URL.Path})
	tooOld, before := verb == "WATCH" && version != 0 && version < p.oldest, p.before
	p.mu.Unlock()
	p.gate.RUnlock()

	if tooOld {
		return answer(http.StatusOK, expired), nil
	}
	if before != nil {
		if status := before(r.Method, r.URL.Path); status != 0 {
			return answer(status, fmt.Sprintf(refused, reasons[status], status)), nil
		}
	}
	response, err := p.next.RoundTrip(r)
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.requests[number].status = response.StatusCode
	}
	return response, err
}

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// hold drops all connections, and lets no request pass until the returned function is called.
func (p *proxy) hold() (release func()) {
	p.gate.Lock()
	release = sync.OnceFunc(p.gate.Unlock)
	p.t.Cleanup(release)
	p.server.CloseClientConnections()
	return release
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

// sent returns the requests with one of the verbs, from the index since on: those about a namespace or a ConfigMap in
// it, or about anything if no namespace is named.
func (p *proxy) sent(since int, verbs, namespace string) (sent []request) {
	path := "/api/v1/namespaces/" + namespace
	for _, r := range p.all()[since:] {
		if strings.Contains(verbs, r.verb) && (namespace == "" || r.path == path || strings.HasPrefix(r.path+"/", path+"/configmaps/")) {
			sent = append(sent, r)
		}
	}
	return sent
}

func (p *proxy) writes(since int, namespace string) []request {
	return p.sent(since, "POST PUT PATCH DELETE", namespace)
}

// accepted are the writes that succeeded.
func (p *proxy) accepted(since int, namespace string) []request {
	return slices.DeleteFunc(p.writes(since, namespace), func(r request) bool { return r.status/100 != 2 })
}
