package runtime

import (
	"context"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// serve runs a server in a pod that answers with what it gets, in capitals.
func (w *world) serve(pod, address string, before ...string) (port int32) {
	w.Helper()
	id := w.run(pod, "", asHello, func(c *runtimeapi.ContainerConfig) {
		c.Args = append(before, "serve", address)
		if w.isolation == noIsolation {
			c.Linux = nil
		}
	})
	w.prints(id, "listens on")
	_, after, _ := strings.Cut(w.log(id, "stdout"), "listens on ")
	listens, err := netip.ParseAddrPort(strings.TrimSpace(after))
	require.NoError(w, err)
	return int32(listens.Port())
}

// request is a client's stream: what it sends, and what it got.
type request struct {
	io.Reader
	screen
}

// forward sends hello to a port of a pod and returns the answer.
func (w *world) forward(pod string, port int32) (string, error) {
	stream := &request{Reader: strings.NewReader("hello")}
	wait := client(w, func(ctx context.Context) error {
		return streams{w.Service}.PortForward(ctx, pod, port, stream)
	})
	err := wait()
	return stream.String(), err
}

func TestPortForward(t *testing.T) {
	w := newWorld(t)
	loadHello(w)
	pod := w.pod("server")
	for name, address := range map[string]string{
		"to the pod's address":                  "$POD_IP:0",
		"to a program on loopback only":         "127.0.0.1:0",
		"to a program on all addresses":         ":0",
		"to a program on all addresses of IPv4": "0.0.0.0:0",
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := w.forward(pod, w.serve(pod, address))
			require.NoError(t, err)
			assert.Equal(t, "HELLO", answer)
		})
	}
	t.Run("to nobody", func(t *testing.T) {
		_, err := w.forward(pod, 1)
		require.ErrorContains(t, err, "nothing in the pod listens on port 1:")
	})
}
