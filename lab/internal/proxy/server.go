package proxy

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

const (
	// dialTimeout bounds the connecting to one endpoint.
	dialTimeout = 2 * time.Second
	// acceptPause is how long a server waits when it has no file descriptor left.
	acceptPause = 100 * time.Millisecond
)

// server passes connections to one port on to endpoints, which may change.
type server struct {
	listener net.Listener
	ctx      context.Context // ends with the server
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu        sync.Mutex
	endpoints endpoints
	conns     map[*connection]bool
}

// connection is from a client to an endpoint.
type connection struct {
	client, backend *net.TCPConn
	endpoint        endpoint
}

func serve(listener net.Listener) *server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{listener: listener, ctx: ctx, cancel: cancel, conns: map[*connection]bool{}}
	s.running.Go(s.accept)
	return s
}

// accept runs until the listener is closed.
func (s *server) accept() {
	for {
		client, err := s.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		default:
			s.running.Go(func() { s.handle(client.(*net.TCPConn)) })
		}
	}
}

// handle connects a client to one of the endpoints. Where there is none, it is refused
// as late as this: a proxy that stopped listening might lose the port to another program.
func (s *server) handle(client *net.TCPConn) {
	dialer := net.Dialer{Timeout: dialTimeout}
	for _, e := range s.candidates() {
		backend, err := dialer.DialContext(s.ctx, "tcp", e.address)
		if err != nil {
			continue
		}
		c := &connection{client, backend.(*net.TCPConn), e}
		if s.add(c) {
			c.relay()
			s.remove(c)
			return
		}
		_ = backend.Close()
	}
	reset(client)
}

// candidates returns the endpoints that take new connections, in any order.
func (s *server) candidates() []endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []endpoint
	for e, takesNew := range s.endpoints {
		if takesNew {
			all = append(all, e)
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// add fails if the endpoint has left meanwhile.
func (s *server) add(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.endpoints[c.endpoint] {
		return false
	}
	s.conns[c] = true
	return true
}

func (s *server) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// set replaces the endpoints and cuts the connections to those that have left: their
// clients are to notice, and connect again.
func (s *server) set(all endpoints) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoints = all
	for c := range s.conns {
		if _, ok := all[c.endpoint]; !ok {
			c.cut()
		}
	}
}

// close ends the server and its connections.
func (s *server) close() {
	_ = s.listener.Close()
	s.cancel()
	s.set(nil)
	s.running.Wait()
}

// relay copies both ways until both have ended.
func (c *connection) relay() {
	defer c.client.Close()
	defer c.backend.Close()
	var both sync.WaitGroup
	for to, from := range map[*net.TCPConn]*net.TCPConn{c.client: c.backend, c.backend: c.client} {
		both.Go(func() {
			if _, err := io.Copy(to, from); err != nil {
				c.cut()
			} else {
				_ = to.CloseWrite()
			}
		})
	}
	both.Wait()
}

// cut ends both sides so that neither takes it for an orderly end.
func (c *connection) cut() {
	reset(c.client)
	reset(c.backend)
}

func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}
