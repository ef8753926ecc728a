package behaviour

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/hacking-a-controller/testcluster"
)

// fault does something to a request on its way to the server, or to the answer.
type fault func(r *http.Request, next http.RoundTripper) (*http.Response, error)

// through makes all requests of a client go through the fault.
func (f fault) through(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return testcluster.RoundTripper(func(r *http.Request) (*http.Response, error) { return f(r, next) })
	})
}

var errFault = errors.New("the network is in a bad mood")

// loseAnswer lets the write with this number, counted from 1, reach the server and
// loses the answer to it. Then it calls the function. Only writes that the server
// accepts count, and one is made at a time.
func loseAnswer(number int, lost func()) fault {
	var mu sync.Mutex
	accepted := 0
	return func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if !isWrite(what(r)) {
			return next.RoundTrip(r)
		}
		mu.Lock()
		defer mu.Unlock()
		response, err := next.RoundTrip(r)
		if err != nil || response.StatusCode/100 != 2 {
			return response, err
		}
		if accepted++; accepted != number {
			return response, nil
		}
		response.Body.Close()
		lost()
		return nil, errFault
	}
}

// dying stops all writes once the operator is dead. What the caches of a dead
// operator read hurts nobody.
type dying struct {
	mu   sync.Mutex
	dead bool
}

func (d *dying) die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
}

func (d *dying) roundTrip(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	d.mu.Lock()
	dead := d.dead
	d.mu.Unlock()
	if dead && isWrite(what(r)) {
		return nil, errFault
	}
	return next.RoundTrip(r)
}

// gate holds such requests back while it is shut. They reach the server when it is
// released.
type gate struct {
	valve   *valve
	such    string
	waiting atomic.Int32
}

func newGate(t testing.TB, such string) *gate {
	return &gate{valve: newValve(t, ""), such: such}
}

func (g *gate) shut()    { g.valve.shut() }
func (g *gate) release() { g.valve.release() }

// held waits until such a request is held back.
func (g *gate) held(s *env) {
	s.t.Helper()
	s.eventually("the operator to "+g.such, func(context.Context) (any, bool) {
		waiting := g.waiting.Load()
		return waiting, waiting > 0
	})
}

func (g *gate) roundTrip(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	if what(r) == g.such {
		g.waiting.Add(1)
		defer g.waiting.Add(-1)
		select {
		case <-g.valve.wait():
		case <-r.Context().Done():
		}
	}
	return next.RoundTrip(r)
}

// valve is in the stream of a watch. While it is shut, nothing arrives, and the
// cache behind it is as old as that.
type valve struct {
	resource string

	mu   sync.Mutex
	open chan struct{} // closed while the valve is open
}

func newValve(t testing.TB, resource string) *valve {
	v := &valve{resource: resource, open: make(chan struct{})}
	close(v.open)
	t.Cleanup(v.release)
	return v
}

func (v *valve) shut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = make(chan struct{})
}

func (v *valve) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-v.open:
	default:
		close(v.open)
	}
}

func (v *valve) wait() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.open
}

func (v *valve) roundTrip(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	response, err := next.RoundTrip(r)
	if err == nil && what(r) == "watch "+v.resource {
		response.Body = &stream{ReadCloser: response.Body, valve: v, closed: make(chan struct{})}
	}
	return response, err
}

// stream is the body of a watch behind a valve.
type stream struct {
	io.ReadCloser
	valve  *valve
	once   sync.Once
	closed chan struct{}
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	select {
	case <-s.valve.wait():
	case <-s.closed:
	}
	return n, err
}

func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.ReadCloser.Close()
}
