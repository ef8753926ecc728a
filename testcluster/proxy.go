package testcluster

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// Proxy stands between a client and the API server and copies bytes. It can
// drop all connections, and refuse new ones.
type Proxy struct {
	listener net.Listener
	target   string
	serving  sync.WaitGroup

	mu      sync.Mutex
	conns   map[net.Conn]bool
	refuses bool
}

// StartProxy starts a proxy that ends with the test, and returns it and a
// configuration that leads through it.
func StartProxy(t testing.TB, config *rest.Config) (*Proxy, *rest.Config) {
	t.Helper()
	target, err := url.Parse(config.Host)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{listener: listener, target: target.Host, conns: map[net.Conn]bool{}}
	p.serving.Go(p.serve)
	t.Cleanup(func() {
		assert.NoError(t, listener.Close())
		p.Refuse() // also what was accepted, and isn't in conns yet
		p.serving.Wait()
	})
	through := rest.CopyConfig(config)
	through.Host = "https://" + listener.Addr().String()
	return p, through
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil || !p.admit(client, server) {
			client.Close()
			if server != nil {
				server.Close()
			}
			continue
		}
		p.serving.Go(func() { p.forward(client, server) })
		p.serving.Go(func() { p.forward(server, client) })
	}
}

// forward copies until one of the two is closed, and closes the other.
func (p *Proxy) forward(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	from.Close()
	to.Close()
}

func (p *Proxy) admit(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses {
		return false
	}
	for _, conn := range conns {
		p.conns[conn] = true
	}
	return true
}

// Cut drops all connections, wherever they are in a stream.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
	clear(p.conns)
}

// Refuse drops all connections and lets no new one in until Allow is called.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	p.refuses = true
	p.mu.Unlock()
	p.Cut()
}

// Allow ends what Refuse began.
func (p *Proxy) Allow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = false
}
