package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// PortForward connects a client to a port of a pod: at the pod's address or, as
// many programs listen only there, on 127.0.0.1.
func (s streams) PortForward(ctx context.Context, sandboxID string, port int32, stream io.ReadWriteCloser) error {
	b, err := s.sandbox(sandboxID)
	if err != nil {
		return err
	}
	defer stream.Close()
	conn, err := dial(ctx, port, s.addressOf(b.snapshot()), "127.0.0.1")
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

// dial connects to the first address that answers.
func dial(ctx context.Context, port int32, addresses ...string) (net.Conn, error) {
	var errs []error
	for _, address := range addresses {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(int(port))))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
