package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// through makes all requests of a client go through the function.
func through(f func(request *http.Request, next http.RoundTripper) (*http.Response, error)) func(*rest.Config) {
	return func(config *rest.Config) {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) { return f(request, next) })
		})
	}
}

// ledger records all requests but those that fill the caches, and how the server
// answered, as "PATCH 200 configmaps/settings" or "PUT 200 settingslayers/site/status".
type ledger struct {
	mu       sync.Mutex
	requests []string
}

func (l *ledger) watch(config *rest.Config) {
	through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if what := inWords(request); err == nil && what != "" {
			// It is noted when all of the answer is here: a test that has seen it may
			// stop the operator, and an answer that is cut off would be an error.
			if err := readWhole(response); err != nil {
				return nil, err
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.requests = append(l.requests, fmt.Sprintf("%s %d %s", request.Method, response.StatusCode, what))
		}
		return response, err
	})(config)
}

// readWhole reads the body of a response, and leaves it there.
func readWhole(response *http.Response) error {
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// inWords is what a request is about; empty if it fills a cache, finds out what
// the server can, or records an event.
func inWords(request *http.Request) string {
	_, resource, namespaced := strings.Cut(request.URL.Path, "/namespaces/")
	_, resource, _ = strings.Cut(resource, "/")
	if !namespaced || request.Method == http.MethodGet && !strings.Contains(resource, "/") || isEvent(request) {
		return ""
	}
	return resource
}

func isEvent(request *http.Request) bool {
	return strings.HasPrefix(request.URL.Path, "/apis/events.k8s.io/")
}

func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}

// accepted are the writes that the server accepted.
func (l *ledger) accepted() []string {
	return slices.DeleteFunc(l.all(), func(r string) bool { return !strings.Contains(r, " 20") })
}

// before calls the function before the first request with this method about
// that resource, such as configmaps/settings.
func before(method, resource string, do func()) func(*rest.Config) {
	var once sync.Once
	return through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == method && inWords(request) == resource {
			once.Do(do)
		}
		return next.RoundTrip(request)
	})
}

var errCrash = errors.New("the program has crashed")

// crash lets so many writes succeed, and then nothing more: not even the answer
// to the last of them arrives. It calls the function when that happens. Events
// are sent in the background, and are not counted.
func crash(after int, dead func()) func(*rest.Config) {
	var mu sync.Mutex
	done := 0
	return through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == http.MethodGet || isEvent(request) {
			return next.RoundTrip(request) // caches of a dead program hurt nobody
		}
		mu.Lock() // one write at a time
		defer mu.Unlock()
		if done == after {
			return nil, errCrash
		}
		response, err := next.RoundTrip(request)
		if err != nil || response.StatusCode >= 300 {
			return response, err
		}
		if done++; done == after {
			response.Body.Close()
			dead()
			return nil, errCrash
		}
		return response, nil
	})
}
