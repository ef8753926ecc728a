package testport

import (
	"net"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
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

func TestThePortIsHeld(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a server listen at a port that is bound")
	}
	address, err := net.ResolveTCPAddr("tcp", Hold(t, "127.0.0.1"))
	require.NoError(t, err)
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer syscall.Close(socket)
	err = syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: address.Port})
	assert.ErrorIs(t, err, syscall.EADDRINUSE, "one that does not allow the reuse")
}
