package bench

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/hacking-a-controller/testcluster"
)

// requests counts the requests of a client by what they are for.
type requests struct {
	mu      sync.Mutex
	counts  map[string]int // "create pods", "update status", ...
	perAt   map[string]int // updates of the status, by the name of the At
	created []time.Time    // when the server answered that a pod was created
	first   time.Time      // when the first request was sent
}

func (c *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) {
		what, sent := purpose(r), time.Now()
		response, err := next.RoundTrip(r)
		c.note(r, what, sent, err == nil && response.StatusCode == http.StatusCreated)
		return response, err
	})
}

func (c *requests) note(r *http.Request, what string, sent time.Time, created bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts, c.perAt = map[string]int{}, map[string]int{}
	}
	c.counts[what]++
	if c.first.IsZero() || sent.Before(c.first) {
		c.first = sent
	}
	switch {
	case what == updateStatus:
		c.perAt[r.URL.Path]++
	case what == createPod && created:
		c.created = append(c.created, time.Now())
	}
}

const (
	createPod    = "pod creates"
	updateStatus = "status writes"
	patchPod     = "pod patches"
	writeEvent   = "events"
	startUp      = "lists and watches"
	otherWrite   = "other writes"
	read         = "live reads"
)

func purpose(r *http.Request) string {
	last := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case r.Method == http.MethodPost && last == "pods":
		return createPod
	case r.Method == http.MethodPut && last == "status":
		return updateStatus
	case r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/pods/"):
		return patchPod
	case strings.Contains(r.URL.Path, "/apis/events.k8s.io/"):
		return writeEvent
	case r.Method != http.MethodGet:
		return otherWrite
	case last == "pods" || last == "ats":
		return startUp
	default:
		return read
	}
}

// count is how many requests there were for that.
func (c *requests) count(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[what]
}

// total is how many requests there were.
func (c *requests) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, n := range c.counts {
		total += n
	}
	return total
}

// mostPerAt is how often the status of an At was written, at most.
func (c *requests) mostPerAt() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := 0
	for _, n := range c.perAt {
		most = max(most, n)
	}
	return most
}

// reset forgets all requests that were made.
func (c *requests) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts, c.perAt, c.created, c.first = nil, nil, nil, time.Time{}
}

// pods returns when the first request was sent, and when each pod was created.
func (c *requests) pods() (first time.Time, created []time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first, append([]time.Time(nil), c.created...)
}
