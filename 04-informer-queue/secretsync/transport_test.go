package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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

// ledger notes the requests that write and how the server answered them, as
// "POST 201 /api/v1/namespaces/harbour/secrets".
type ledger struct {
	mu     sync.Mutex
	writes []string
}

func (l *ledger) watch(config *rest.Config) {
	through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && request.Method != http.MethodGet {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.writes = append(l.writes, fmt.Sprintf("%s %d %s", request.Method, response.StatusCode, request.URL.Path))
		}
		return response, err
	})(config)
}

func (l *ledger) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.writes)
}

// answers are the writes without what they were about.
func (l *ledger) answers() []string {
	all := l.all()
	for i := range all {
		all[i] = all[i][:strings.LastIndex(all[i], " ")]
	}
	return all
}

// firsts leaves out the creates that a stale cache repeats: until it shows the copy that the program
// has just made, the program makes it once more, and the server refuses. A refusal that comes before
// anything was made there is no such one, and counts.
func firsts(writes []string) (firsts []string) {
	made := map[string]bool{}
	for _, w := range writes {
		if where, is := strings.CutPrefix(w, "POST 201"); is {
			made[where] = true
		}
		if where, is := strings.CutPrefix(w, "POST 409"); !is || !made[where] {
			firsts = append(firsts, w)
		}
	}
	return firsts
}

// before calls the function before the first request that has this method and
// is about a secret of this name. A POST has no name.
func before(method, name string, do func()) func(*rest.Config) {
	var once sync.Once
	return through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == method && strings.HasSuffix(request.URL.Path, "/secrets"+name) {
			once.Do(do)
		}
		return next.RoundTrip(request)
	})
}

// refuseOnce makes the network fail at the first request with this method.
func refuseOnce(method string) func(*rest.Config) {
	var refused atomic.Bool
	return through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == method && refused.CompareAndSwap(false, true) {
			return nil, errors.New("the network is in a bad mood")
		}
		return next.RoundTrip(request)
	})
}

var errCrash = errors.New("the program has crashed")

// crash lets so many writes succeed, and then nothing more: not even the answer
// to the last of them arrives. It calls the function when that happens.
func crash(after int, dead func()) func(*rest.Config) {
	var mu sync.Mutex
	done := 0
	return through(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		if request.Method == http.MethodGet {
			return next.RoundTrip(request) // caches of a dead program do no harm
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
