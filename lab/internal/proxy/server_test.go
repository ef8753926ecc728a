package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"example.com/hacking-a-controller/lab/internal/testenv"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// startBackend starts a server that prints its name to each client, then each line that
// it reads, and at the end of these a farewell.
func startBackend(t *testing.T, name string) endpoint {
	t.Helper()
	l := listen(t)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				fmt.Fprintln(conn, name)
				_, _ = io.Copy(conn, conn)
				fmt.Fprintln(conn, "bye")
			}()
		}
	}()
	return endpoint{types.UID(name), l.Addr().String()}
}

func startServer(t *testing.T, all endpoints) *server {
	t.Helper()
	s := serve(listen(t))
	t.Cleanup(s.close)
	s.set(all)
	return s
}

// client is a connection through the server.
type client struct {
	*net.TCPConn
	lines *bufio.Reader
}

func connect(t *testing.T, address string) client {
	t.Helper()
	conn, err := net.Dial("tcp4", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(testenv.Timeout())))
	return client{conn.(*net.TCPConn), bufio.NewReader(conn)}
}

func (c client) expect(t *testing.T, want string) {
	t.Helper()
	line, err := c.lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, want+"\n", line)
}

// expectEcho proves that both ways work.
func (c client) expectEcho(t *testing.T) {
	t.Helper()
	_, err := fmt.Fprintln(c, "echo")
	require.NoError(t, err)
	c.expect(t, "echo")
}

// expectReset proves that the client cannot take the end for an orderly one.
func (c client) expectReset(t *testing.T) {
	t.Helper()
	_, err := c.lines.ReadString('\n')
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

// expectRefused proves the same of a client that comes when there is no endpoint: it
// learns so while it connects, or when it reads.
func expectRefused(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp4", address)
	if err == nil {
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(testenv.Timeout())))
		_, err = conn.Read(make([]byte, 1))
	}
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

func TestBothWaysAndEitherEnd(t *testing.T) {
	s := startServer(t, endpoints{startBackend(t, "one"): true})
	c := connect(t, s.listener.Addr().String())
	c.expect(t, "one")
	c.expectEcho(t)
	require.NoError(t, c.CloseWrite())
	c.expect(t, "bye") // the other way is still open
	_, err := c.lines.ReadString('\n')
	require.ErrorIs(t, err, io.EOF)
}

func TestThePortFollows(t *testing.T) {
	one, two := startBackend(t, "one"), startBackend(t, "two")
	s := startServer(t, endpoints{one: true})
	address := s.listener.Addr().String()
	first := connect(t, address)
	first.expect(t, "one")

	s.set(endpoints{one: false, two: true}) // the first terminates
	second := connect(t, address)
	second.expect(t, "two")
	first.expectEcho(t)

	s.set(endpoints{two: true}) // and is gone
	first.expectReset(t)
	second.expectEcho(t)
}

func TestAnEndpointThatDoesNotAnswerIsPassedOver(t *testing.T) {
	dead := listen(t)
	require.NoError(t, dead.Close())
	s := startServer(t, endpoints{{"dead", dead.Addr().String()}: true, startBackend(t, "one"): true})
	for range 10 { // in any order
		connect(t, s.listener.Addr().String()).expect(t, "one")
	}
}

func TestWithoutAnEndpointAClientIsRefused(t *testing.T) {
	one := startBackend(t, "one")
	s := startServer(t, nil)
	expectRefused(t, s.listener.Addr().String())
	s.set(endpoints{one: false})
	expectRefused(t, s.listener.Addr().String())
	s.set(endpoints{one: true})
	connect(t, s.listener.Addr().String()).expect(t, "one")
}

func TestAnEndpointThatLeavesWhileItIsDialledGetsNoClient(t *testing.T) {
	one := startBackend(t, "one")
	s := startServer(t, endpoints{one: true})
	require.Len(t, s.candidates(), 1)
	s.set(nil)
	assert.False(t, s.add(&connection{endpoint: one}))
}
