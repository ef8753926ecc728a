package testport

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAServerMayListenThere(t *testing.T) {
	address := Hold(t, "127.0.0.1")
	_, err := net.Dial("tcp", address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	for range 2 { // as one that is started again
		listener, err := net.Listen("tcp", address)
		require.NoError(t, err)
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, listener.Close())
	}
}
