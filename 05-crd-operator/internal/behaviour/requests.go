package behaviour

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// request is one that an operator has made.
type request struct {
	what string // such as "create pods", "write ats/status", "watch ats"
	text string // the path, and what was sent
	code int    // the server's answer; 0 if none came
}

// ledger notes all requests of an operator.
type ledger struct {
	mu   sync.Mutex
	list []request
}

func (l *ledger) note(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	entry := request{what: what(r), text: r.URL.Path + "\n" + content(r)}
	response, err := next.RoundTrip(r)
	if err == nil {
		entry.code = response.StatusCode
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, entry)
	return response, err
}

// reset forgets all requests that were made.
func (l *ledger) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// about returns the requests in which the name occurs, in their order, but not
// the watches.
func (l *ledger) about(name string) []string {
	var all []string
	for _, r := range l.all() {
		if !strings.HasPrefix(r.what, "watch ") && strings.Contains(r.text, name) {
			all = append(all, r.what)
		}
	}
	return all
}

// accepted returns the writes that the server accepted, but for those about
// probes.
func (l *ledger) accepted() []string {
	var all []string
	for _, r := range l.all() {
		if isWrite(r.what) && r.code/100 == 2 && !strings.Contains(r.text, "probe-") {
			all = append(all, r.what)
		}
	}
	return all
}

// hasMade is for eventually: it reports whether the operator has had an answer to
// such a request about the name.
func (o *operator) hasMade(what, name string) func(context.Context) (any, bool) {
	return func(context.Context) (any, bool) {
		made := o.requests.about(name)
		return made, slices.Contains(made, what)
	}
}

// answered reports whether the server gave this answer to such a request.
func (l *ledger) answered(what string, code int) bool {
	return slices.ContainsFunc(l.all(), func(r request) bool { return r.what == what && r.code == code })
}

func (l *ledger) all() []request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

func isWrite(what string) bool {
	return strings.HasPrefix(what, "create ") || strings.HasPrefix(what, "write ") || strings.HasPrefix(what, "delete ")
}

// what is in two words what a request is for. That a status is written counts,
// not whether by an update or by a patch.
func what(r *http.Request) string {
	segments := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	i := slices.Index(segments, "namespaces")
	if i < 0 || len(segments) < i+3 {
		return r.Method + " " + r.URL.Path // discovery, or something of the whole cluster
	}
	resource, named := segments[i+2], len(segments) > i+3
	if len(segments) > i+4 {
		resource += "/" + segments[i+4]
	}
	switch {
	case r.Method == http.MethodPost:
		return "create " + resource
	case r.Method == http.MethodPut, r.Method == http.MethodPatch:
		return "write " + resource
	case r.Method == http.MethodDelete:
		return "delete " + resource
	case named:
		return "get " + resource
	case r.URL.Query().Get("watch") == "true", r.URL.Query().Get("watch") == "1":
		return "watch " + resource
	default:
		return "list " + resource
	}
}

// content reads what a request sends, and leaves it there. In protobuf, too,
// names are to be found.
func content(r *http.Request) string {
	if r.Body == nil {
		return ""
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	r.Body = io.NopCloser(bytes.NewReader(sent))
	return string(sent)
}
