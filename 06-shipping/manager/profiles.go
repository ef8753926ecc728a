package manager

import (
	"net/http"
	"net/http/pprof"
)

// profiles are what Go's runtime records about this process, beside the metrics and behind the
// same review: where the memory was allocated that is in use, what all goroutines are doing, and
// where processor time goes. They show no object and no command line. A client needs a right for
// each, which a client that reads metrics does not have; see config/profile-reader.
//
// Without the API server's review there are none: the token in a file is for the metrics.
func profiles(o Options) map[string]http.Handler {
	if o.MetricsTokenFile != "" {
		return nil
	}
	return map[string]http.Handler{
		"/debug/pprof/heap":      pprof.Handler("heap"),
		"/debug/pprof/goroutine": pprof.Handler("goroutine"),
		"/debug/pprof/profile":   http.HandlerFunc(pprof.Profile),
	}
}
