package claim

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// open returns nil when another process has the claim. It is a socket with an abstract name,
// which is there for all users of a network namespace, and in no folder.
func open(name string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("claiming %s: %w", name, err)
	}
	err = unix.Bind(fd, &unix.SockaddrUnix{Name: "@hacking-a-controller/lab/" + name})
	if err != nil {
		_ = unix.Close(fd)
		if errors.Is(err, unix.EADDRINUSE) {
			return nil, nil
		}
		return nil, fmt.Errorf("claiming %s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
