// Package testport finds ports for programs that have to be told where to listen.
package testport

import (
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hold returns host:port of an IPv4 address of this machine where nobody listens, and holds the port
// until the test ends: it is bound, and does not listen. A server that allows the reuse of an
// address, as PostgreSQL and Go's do, may listen there all the same. The kernel chooses the port for
// nobody else, and who connects while no server listens is refused. Elsewhere than on Linux a bound
// port is closed to servers, too, so there it is let go.
func Hold(t testing.TB, ip string) string {
	t.Helper()
	socket, err := reuse(netip.MustParseAddr(ip).As4())
	require.NoError(t, err)
	if runtime.GOOS == "linux" {
		t.Cleanup(func() { _ = syscall.Close(socket) })
	} else {
		defer syscall.Close(socket)
	}
	bound, err := syscall.Getsockname(socket)
	require.NoError(t, err)
	return net.JoinHostPort(ip, strconv.Itoa(bound.(*syscall.SockaddrInet4).Port))
}

// reuse returns a socket that is bound to a port which the kernel chooses.
func reuse(ip [4]byte) (int, error) {
	syscall.ForkLock.RLock() // a child must not inherit it
	defer syscall.ForkLock.RUnlock()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	syscall.CloseOnExec(socket)
	if err = syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
		err = syscall.Bind(socket, &syscall.SockaddrInet4{Addr: ip})
	}
	if err != nil {
		_ = syscall.Close(socket)
	}
	return socket, err
}
