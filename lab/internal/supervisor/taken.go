package supervisor

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// takenPort says which of a component's ports another program has, and what to do about it.
// It is empty if there is none. Call it while the component is not running.
func takenPort(ports []int) string {
	for _, port := range ports {
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Sprintf("its port %d is taken by %s (to choose other ports: lab down, then lab up)", port, holder(port))
		}
		if err == nil {
			_ = l.Close()
		}
	}
	return ""
}
