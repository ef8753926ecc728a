package standby

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// held are sockets that keep ports, until they are closed. They do not listen, so no connection
// comes to them. A server can listen at such a port if it shares it, and no other program gets
// it: neither before the server listens there, nor by chance.
type held []int

// hold keeps one more port, and returns its address.
func (h *held) hold() (address string, err error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", fmt.Errorf("holding a port: %w", err)
	}
	*h = append(*h, socket)
	unix.CloseOnExec(socket)
	err = errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	if err != nil {
		return "", fmt.Errorf("holding a port: %w", err)
	}
	bound, err := unix.Getsockname(socket)
	if err != nil {
		return "", fmt.Errorf("holding a port: %w", err)
	}
	return fmt.Sprintf("127.0.0.1:%d", bound.(*unix.SockaddrInet4).Port), nil
}

// free lets go of all.
func (h *held) free() {
	for _, socket := range *h {
		_ = unix.Close(socket)
	}
	*h = nil
}
