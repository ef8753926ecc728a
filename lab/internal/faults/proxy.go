package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// proxy passes requests on to the API server, as far as the faults let it.
type proxy struct {
	faults  *set
	forward *httputil.ReverseProxy
	log     io.Writer // a line for each request
}

// key is where a request's context has its [request].
type key struct{}

func newProxy(faults *set, server *url.URL, transport http.RoundTripper, requests io.Writer) *proxy {
	p := &proxy{faults: faults, log: requests}
	p.forward = &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			identify(r.Out.Header, r.In.TLS)
		},
		ModifyResponse: p.passOn,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { abort() },
		FlushInterval:  -1, // an event is not to wait for the next
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	return p
}

// abort ends the connection without an answer.
func abort() { panic(http.ErrAbortHandler) }

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := describe(r)
	ctx, end := p.faults.begin(context.WithValue(r.Context(), key{}, d), d)
	defer end()
	if p.faults.hold(ctx, d, Slow) != nil {
		end := string(Cut)
		if r.Context().Err() != nil {
			end = "left"
		}
		p.note(r, d, end)
		abort()
	}
	if fault, ok := p.faults.find(d, Refuse); ok {
		p.refuse(w, r, d, fault.Code)
		return
	}
	if fault, ok := p.faults.find(d, Expire); ok {
		p.expire(w, r, d, fault.Version)
		return
	}
	p.forward.ServeHTTP(w, r.WithContext(ctx))
}

// passOn notes an answer of the API server. If it is a watch, its events may be held back.
func (p *proxy) passOn(response *http.Response) error {
	ctx := response.Request.Context()
	d := ctx.Value(key{}).(request)
	p.note(response.Request, d, response.StatusCode)
	if d.verb == watch && response.StatusCode == http.StatusOK {
		response.Body = events{response.Body, ctx, d, p.faults}
	}
	return nil
}

// note writes a line about a request: the time, the program, what it asked for, what became of it.
func (p *proxy) note(r *http.Request, d request, end any) {
	fmt.Fprintf(p.log, "%s %s %s %s %v\n", time.Now().Format("15:04:05.000"), d.client, r.Method, r.URL.RequestURI(), end)
}

// refuse answers with a Status, as the API server would.
func (p *proxy) refuse(w http.ResponseWriter, r *http.Request, d request, code int) {
	resource := schema.GroupResource{Resource: d.resource}
	err := apierrors.NewGenericServerResponse(code, r.Method, resource, "", "the lab refuses it (to end that: lab heal)", 0, false)
	p.note(r, d, code)
	writeJSON(w, code, typed(err.Status()))
}

// expire answers a watch from a version that is too old: it begins well, and has an ERROR event.
func (p *proxy) expire(w http.ResponseWriter, r *http.Request, d request, oldest uint64) {
	err := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", d.version, oldest))
	p.note(r, d, http.StatusGone)
	writeJSON(w, http.StatusOK, metav1.WatchEvent{Type: string(apiwatch.Error), Object: runtime.RawExtension{Object: typed(err.Status())}})
}

// typed says what a Status is.
func typed(status metav1.Status) *metav1.Status {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// writeJSON answers with JSON, which each client of Kubernetes understands.
func writeJSON(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value) // the client may be gone
}

// events are those of a watch. They are held back while it is frozen.
type events struct {
	io.ReadCloser
	ctx     context.Context
	request request
	faults  *set
}

func (e events) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if held := e.faults.hold(e.ctx, e.request, Freeze); held != nil {
		return 0, errors.Join(held, err)
	}
	return n, err
}
