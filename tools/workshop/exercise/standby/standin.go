package standby

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

// These are the variables by which a stand-in finds the Standby and the real programs.
const (
	socketPath   = "WORKSHOP_STANDBY"
	realPrograms = "WORKSHOP_ASSETS"
)

// IsStandIn says whether this process was started by the name of a program that it stands
// in for.
func IsStandIn(program string) bool {
	return slices.Contains([]string{etcd, apiServer}, filepath.Base(program)) && os.Getenv(socketPath) != ""
}

// StandIn is the program that was called by such a name. It returns the exit code.
func StandIn(args []string) int {
	program := filepath.Base(args[0])
	conn, address := ask(program, args[1:])
	if address == "" {
		path := filepath.Join(os.Getenv(realPrograms), program)
		err := syscall.Exec(path, append([]string{path}, args[1:]...), os.Environ())
		fmt.Fprintf(os.Stderr, "running %s: %v\n", path, err)
		return 1
	}
	listener, err := net.Listen("tcp", listenAddress(program, args[1:]))
	if err != nil {
		fmt.Fprintf(os.Stderr, "standing in for %s: %v\n", program, err)
		return 1
	}
	go forward(listener, address)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, conn) // the Standby says no more, and closes it when it ends
		close(gone)
	}()
	select {
	case <-ended:
		return 0
	case <-gone:
		return 1
	}
}

// ask asks the Standby for a server. What is only asked for its flags needs none.
func ask(program string, args []string) (net.Conn, string) {
	if slices.Contains(args, "--help") {
		return nil, ""
	}
	conn, err := net.Dial("unix", os.Getenv(socketPath))
	if err != nil {
		return nil, ""
	}
	var r reply
	if json.NewEncoder(conn).Encode(request{program, args}) != nil || json.NewDecoder(conn).Decode(&r) != nil {
		return nil, ""
	}
	return conn, r.Address
}

func listenAddress(program string, args []string) string {
	if program == apiServer {
		return net.JoinHostPort(value(args, "bind-address"), value(args, "secure-port"))
	}
	u, err := url.Parse(value(args, "listen-client-urls"))
	if err != nil {
		return ""
	}
	return u.Host
}

// forward passes on each connection.
func forward(listener net.Listener, address string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			server, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer server.Close()
			go func() {
				_, _ = io.Copy(server, conn)
				_ = server.(*net.TCPConn).CloseWrite()
			}()
			_, _ = io.Copy(conn, server)
		}()
	}
}
