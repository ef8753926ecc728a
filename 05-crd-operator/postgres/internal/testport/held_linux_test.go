package testport

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only Linux has a server listen at a port that is bound.
func TestThePortIsHeld(t *testing.T) {
	address, err := net.ResolveTCPAddr("tcp", Hold(t, "127.0.0.1"))
	require.NoError(t, err)
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer syscall.Close(socket)
	err = syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: address.Port})
	assert.ErrorIs(t, err, syscall.EADDRINUSE, "one that does not allow the reuse")
}
