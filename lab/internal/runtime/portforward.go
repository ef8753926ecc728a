package runtime

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// loopback is where many programs listen, and nowhere else.
const loopback = "127.0.0.1"

// PortForward connects a client to a port of a pod, at the pod's address or on
// loopback, wherever a process of the pod listens.
func (s streams) PortForward(ctx context.Context, sandboxID string, port int32, stream io.ReadWriteCloser) error {
	b, err := s.sandbox(sandboxID)
	if err != nil {
		return err
	}
	defer stream.Close()
	conn, err := s.dial(ctx, b, port)
	if err != nil {
		return fmt.Errorf("nothing in the pod listens on port %d: %w", port, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(stream, conn)
		_ = stream.Close() // also ends the copying the other way
	})
	copying.Go(func() {
		_, _ = io.Copy(conn, stream)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	})
	copying.Wait()
	return nil
}

// dial connects to the first address at which the pod listens.
func (s streams) dial(ctx context.Context, b *sandbox, port int32) (net.Conn, error) {
	r := b.snapshot()
	conn, err := s.dialAddress(ctx, r.ID, s.addressOf(r), port)
	if err == nil || s.addressOf(r) == loopback {
		return conn, err
	}
	conn, loopbackErr := s.dialAddress(ctx, r.ID, loopback, port)
	if loopbackErr != nil {
		return nil, fmt.Errorf("%w, and %w", err, loopbackErr)
	}
	return conn, nil
}

func (s streams) dialAddress(ctx context.Context, sandboxID, address string, port int32) (net.Conn, error) {
	if err := s.checkListener(sandboxID, address, int(port)); err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(port))))
}
