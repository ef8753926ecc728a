package load

import (
	"context"
	"io"
	"net"
	"sync"
)

// cable is a connection to the API server that can be cut: a proxy on loopback that forwards
// bytes, and understands none of them.
type cable struct {
	listener net.Listener
	server   string // host and port

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
	wg     sync.WaitGroup
}

// newCable listens until close.
func newCable(ctx context.Context, server string) (*cable, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &cable{listener: listener, server: server, open: map[net.Conn]bool{}}
	c.wg.Go(c.accept)
	return c, nil
}

func (c *cable) address() string { return c.listener.Addr().String() }

// cut ends all connections, and with them all watches and the requests that are under way. New
// ones are possible at once.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for connection := range c.open {
		_ = connection.Close()
	}
}

// close ends the proxy, and waits until nothing of it is left.
func (c *cable) close() {
	_ = c.listener.Close()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cut()
	c.wg.Wait()
}

func (c *cable) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.wg.Go(func() { c.forward(client) })
	}
}

// forward ends when one of the two sides closes.
func (c *cable) forward(client net.Conn) {
	defer c.hold(client)()
	server, err := (&net.Dialer{Timeout: callLimit}).Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer c.hold(server)()
	var wg sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		wg.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_, _ = client.Close(), server.Close()
		})
	}
	wg.Wait()
}

// hold notes a connection, so that it can be cut, until release is called.
func (c *cable) hold(connection net.Conn) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed { // it was accepted just before
		_ = connection.Close()
	}
	c.open[connection] = true
	return func() {
		_ = connection.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, connection)
	}
}
