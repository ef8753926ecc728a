package testcluster

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// Gate is between a client and the API server, and holds back some requests while it is shut. Of a watch
// it holds back what the server sends, so that the cache behind it is stale.
type Gate struct {
	holds   func(*http.Request) bool
	waiting atomic.Int32

	mu   sync.Mutex
	open chan struct{} // closed while the gate is open
}

// NewGate returns an open gate for the requests that the function chooses. It is open again when the test ends.
func NewGate(t testing.TB, holds func(*http.Request) bool) *Gate {
	g := &Gate{holds: holds, open: make(chan struct{})}
	close(g.open)
	t.Cleanup(g.Open)
	return g
}

// Shut holds back what comes from now on.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

// Open lets through what was held back, and what comes.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
	default:
		close(g.open)
	}
}

// Holding is how many requests are being held back, or what watches bring.
func (g *Gate) Holding() int { return int(g.waiting.Load()) }

// Wrap makes a client's requests go through the gate.
func (g *Gate) Wrap(config *rest.Config) {
	Through(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if !g.holds(r) {
			return next.RoundTrip(r)
		}
		if r.URL.Query().Get("watch") == "" {
			g.wait(r.Context())
			return next.RoundTrip(r)
		}
		response, err := next.RoundTrip(r)
		if err == nil {
			response.Body = gated{response.Body, g, r.Context()}
		}
		return response, err
	})(config)
}

func (g *Gate) wait(ctx context.Context) {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return
	default:
	}
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	select {
	case <-open:
	case <-ctx.Done():
	}
}

// gated is the body of a watch.
type gated struct {
	io.ReadCloser
	gate *Gate
	ctx  context.Context // of the request
}

// Read returns what has arrived, once the gate is open.
func (b gated) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.gate.wait(b.ctx)
	return n, err
}
