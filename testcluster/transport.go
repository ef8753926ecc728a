package testcluster

import (
	"net/http"

	"k8s.io/client-go/rest"
)

// RoundTripper is a function between a client and the API server, for the Wrap of a rest.Config. It may count
// a request, change it, or answer it itself. http.HandlerFunc is the same idea on the other side.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Through makes all requests of a client go through a function, which may pass them on to next.
func Through(f func(request *http.Request, next http.RoundTripper) (*http.Response, error)) func(*rest.Config) {
	return func(config *rest.Config) {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return RoundTripper(func(request *http.Request) (*http.Response, error) { return f(request, next) })
		})
	}
}
