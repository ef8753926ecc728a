package runtime

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// upper answers each connection with what it got, in capitals.
func upper(t *testing.T, address string) int32 {
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			data, _ := io.ReadAll(conn)
			_, _ = io.WriteString(conn, strings.ToUpper(string(data)))
			_ = conn.Close()
		}
	}()
	return int32(listener.Addr().(*net.TCPAddr).Port)
}

// request is a client's stream: what it sends, and what it got.
type request struct {
	io.Reader
	screen
}

func TestPortForward(t *testing.T) {
	w := newWorld(t)
	pod := w.pod("server")
	sandbox, err := w.PodSandboxStatus(t.Context(), pod, false)
	require.NoError(t, err)
	for name, address := range map[string]string{
		"to the pod's address":          sandbox.Status.Network.Ip,
		"to a program on loopback only": "127.0.0.1",
	} {
		t.Run(name, func(t *testing.T) {
			stream := &request{Reader: strings.NewReader("hello")}
			wait := client(t, func(ctx context.Context) error {
				return streams{w.Service}.PortForward(ctx, pod, upper(t, address), stream)
			})
			require.NoError(t, wait())
			assert.Equal(t, "HELLO", stream.String())
		})
	}
	t.Run("to nobody", func(t *testing.T) {
		err := streams{w.Service}.PortForward(t.Context(), pod, 1, &request{Reader: strings.NewReader("")})
		require.ErrorContains(t, err, "nothing in the pod listens on port 1:")
	})
}
