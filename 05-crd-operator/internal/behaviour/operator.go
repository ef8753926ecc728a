package behaviour

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"example.com/hacking-a-controller/testcluster"
)

// operator is a running operator, seen from outside.
type operator struct {
	*testclock.FakeClock // that of its env, which operators share
	env                  *env
	reads                atomic.Int64 // how often it read the time

	mu       sync.Mutex
	until    time.Time // its last timer ends then
	requests []request

	// What may be changed before it starts.
	workers int
	config  *rest.Config
	log     logr.Logger
	faults  []func(*rest.Config)
	mayFail bool // to start, or to end well

	running context.Context // ends when the operator does
	failed  error           // is set by then
	stop    func()
}

// request is one that an operator has made.
type request struct {
	what string // such as "create pods", "write ats/status", "watch ats"
	at   string // the name of the At that it is about, or whose pod it is about
	code int    // the server's answer; 0 if none came
}

// start starts an operator with one worker, which takes one key after the other in their order.
// It works until it is stopped or the test ends.
func (s *env) start(change ...func(*operator)) *operator {
	s.t.Helper()
	o := &operator{FakeClock: s.clock, env: s, workers: 1, config: s.suite.config, log: logr.Discard()}
	for _, f := range change {
		f(o)
	}
	s.mu.Lock()
	s.operators = append(s.operators, o)
	s.mu.Unlock()
	config := rest.CopyConfig(o.config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON // which nameIn reads
	// The first is the next to the server.
	for _, f := range append([]func(*rest.Config){o.note}, o.faults...) {
		f(config)
	}
	o.running, o.stop = testcluster.Run(s.t, func(ctx context.Context) error {
		o.failed = s.suite.run(klog.NewContext(ctx, o.log), config, s.namespace, o.workers, o)
		if o.failed == nil || o.mayFail {
			return nil
		}
		select {
		case s.failed <- o.failed: // no case waits for what will not come
		default:
		}
		return o.failed
	})
	return o
}

// Now is the time of the env. Nothing can be decided without reading it, so this distinguishes a
// reconcile that makes no request from no reconcile.
func (o *operator) Now() time.Time {
	o.reads.Add(1)
	return o.FakeClock.Now()
}

// NewTimer is called by a queue that has nothing to do, with the time until its next key is due.
func (o *operator) NewTimer(d time.Duration) clock.Timer {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.until = o.FakeClock.Now().Add(d)
	return o.FakeClock.NewTimer(d)
}

// sleepsUntil waits until the operator sleeps until then. A case that lets the time jump earlier
// than that lets it jump before the operator has counted the hours.
func (o *operator) sleepsUntil(hour string) {
	o.env.t.Helper()
	o.env.eventually("the operator to sleep until "+hour, func(context.Context) (any, bool) {
		o.mu.Lock()
		defer o.mu.Unlock()
		late := o.until.Sub(moment(hour))
		return o.until, late >= 0 && late < time.Second
	})
}

// note notes all requests.
func (o *operator) note(config *rest.Config) {
	testcluster.Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		made := parse(r)
		response, err := next.RoundTrip(r)
		if err == nil {
			made.code = response.StatusCode
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.requests = append(o.requests, made)
		return response, err
	})(config)
}

// parse returns what a request is for. That a status is written counts, not whether by an update
// or by a patch.
func parse(r *http.Request) request {
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	i := slices.Index(segments, "namespaces")
	if i < 0 || len(segments) < i+3 {
		return request{what: r.Method + " " + r.URL.Path} // discovery, or something of the whole cluster
	}
	resource, name, subresource := segments[i+2], "", ""
	if len(segments) > i+3 {
		name = segments[i+3]
	}
	if len(segments) > i+4 {
		subresource = "/" + segments[i+4]
	}
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "write", http.MethodPatch: "write", http.MethodDelete: "delete"}[r.Method]
	switch {
	case verb == "create":
		name = nameIn(r)
	case verb == "" && name != "":
		verb = "get"
	case verb == "" && r.URL.Query().Get("watch") != "":
		verb = "watch"
	case verb == "":
		verb = "list"
	}
	return request{what: verb + " " + resource + subresource, at: strings.TrimSuffix(name, "-pod")}
}

// nameIn is the name of the object in the body, or of the one that an event is about.
func nameIn(r *http.Request) string {
	var object struct {
		Metadata, Regarding struct{ Name string }
	}
	body, err := r.GetBody()
	if err == nil {
		err = json.NewDecoder(body).Decode(&object)
	}
	if err != nil {
		return err.Error()
	}
	return cmp.Or(object.Regarding.Name, object.Metadata.Name)
}

func isWrite(what string) bool {
	return strings.HasPrefix(what, "create ") || strings.HasPrefix(what, "write ") || strings.HasPrefix(what, "delete ")
}

// all are the requests that were made, in the order of their answers.
func (o *operator) all() []request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.requests)
}

// forget forgets them.
func (o *operator) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = nil
}

// about are the requests about an At and its pod.
func (o *operator) about(at string) (what []string) {
	for _, r := range o.all() {
		if r.at == at {
			what = append(what, r.what)
		}
	}
	return what
}

// makes waits until the operator has had an answer to such a request about the At.
func (o *operator) makes(what, at string) {
	o.env.t.Helper()
	o.env.eventually("the operator to "+what, func(context.Context) (any, bool) {
		made := o.about(at)
		return made, slices.Contains(made, what)
	})
}

// gate adds a gate for such requests to an operator that is about to start.
func (o *operator) gate(what ...string) *testcluster.Gate {
	g := testcluster.NewGate(o.env.t, func(r *http.Request) bool { return slices.Contains(what, parse(r).what) })
	o.faults = append(o.faults, g.Wrap)
	return g
}
