package operator

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// requests are those of an operator, as "get pods" or "update postgresclusters/status".
type requests struct {
	mu   sync.Mutex
	list []string
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// watch records what is asked with a configuration, and how often it is refused for want of
// rights.
func (r *requests) watch(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			what := inVerbs(request)
			if err == nil && response.StatusCode == http.StatusForbidden {
				what = "refused: " + what
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.list = append(r.list, what)
			return response, err
		})
	})
}

// all are the requests since the last call of take.
func (r *requests) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// take returns them, and forgets them.
func (r *requests) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// inVerbs is what a request needs the right to.
func inVerbs(request *http.Request) string {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	parts = parts[min(len(parts), map[string]int{"api": 2, "apis": 3}[parts[0]]):]
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	if len(parts) == 0 {
		return request.URL.Path
	}
	verb := map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[request.Method]
	switch collection := len(parts) == 1; {
	case collection && request.URL.Query().Get("watch") != "":
		verb = "watch"
	case collection && verb == "get":
		verb = "list"
	case collection && verb == "delete":
		verb = "deletecollection"
	}
	if len(parts) > 2 {
		parts[0] += "/" + parts[2]
	}
	return verb + " " + parts[0]
}
