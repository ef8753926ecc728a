package member

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// reporter tells others what the agent has observed last.
type reporter struct {
	mu     sync.Mutex
	report plan.Report
	silent bool      // PostgreSQL should answer, and does not
	until  time.Time // by then the loop observes again, unless it hangs
}

// goodFor is how long a report is good for, if the loop does not say otherwise.
const goodFor = 3 * time.Second

func (r *reporter) set(report plan.Report, silent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report, r.silent, r.until = report, silent, time.Now().Add(goodFor)
}

// extend says that the loop begins something that may take long.
func (r *reporter) extend(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(d)
}

func (r *reporter) get() (report plan.Report, silent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report, r.silent || time.Now().After(r.until)
}

// handler serves /status, for the operator, and /readyz, for a kubelet. A primary whose
// PostgreSQL does not answer, and an agent that hangs, do not answer either: they are silent.
func (r *reporter) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		report, silent := r.get()
		if silent {
			http.Error(w, "PostgreSQL does not answer, or the agent hangs", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(report) // an error means that the client is gone
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		report, silent := r.get()
		switch {
		case silent || !report.Running:
			http.Error(w, "PostgreSQL does not answer", http.StatusServiceUnavailable)
		case !report.Writable && report.Unreachable.Lasts():
			// Its Service has other standbys. That of the primary has no other member, and leads
			// people to the connections that are reserved for them.
			http.Error(w, "no new client can connect", http.StatusServiceUnavailable)
		}
	})
	return mux
}
