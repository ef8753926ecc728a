package load

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

func TestACableThatIsCut(t *testing.T) {
	server, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	c, err := newCable(t.Context(), server.Addr().String())
	require.NoError(t, err)
	for _, end := range []func(){c.cut, c.close} {
		client, err := (&net.Dialer{Timeout: testcluster.TestTimeout}).DialContext(t.Context(), "tcp", c.address())
		require.NoError(t, err, "a new connection is possible at once")
		defer client.Close()
		_, err = client.Write([]byte("x"))
		require.NoError(t, err)
		there, err := server.Accept()
		require.NoError(t, err)
		defer there.Close()
		received := make([]byte, 1)
		_, err = there.Read(received)
		require.NoError(t, err)
		assert.Equal(t, "x", string(received))
		end()
		for _, side := range []net.Conn{client, there} {
			require.NoError(t, side.SetReadDeadline(time.Now().Add(testcluster.TestTimeout)))
			_, err = side.Read(received)
			require.Error(t, err, "both sides see the end")
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		}
	}
	_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", c.address())
	assert.Error(t, err)
}
