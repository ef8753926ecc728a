package testcluster

import "net/http"

// RoundTripper is a function between a client and the API server, for the Wrap of a rest.Config. It may count
// a request, change it, or answer it itself. http.HandlerFunc is the same idea on the other side.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
