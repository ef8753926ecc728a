// Package isolate gives commands a network of their own: a loopback interface, and nothing
// else. Two programs in two networks can listen at the same port.
//
// On Linux it is a network namespace. To make one needs root, or a kernel that allows user
// namespaces; what runs in it has the user and the rights that it has outside.
package isolate

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
)

// A Network is one that commands can run in. A nil one is the machine's.
type Network struct {
	enter string     // the program that runs a command in it
	files []*os.File // keep it: of the network, and of the user namespace that owns it
}

// Enter makes a command, which has not been started yet, run in the network. So does all that
// it starts. It keeps its process id.
func (n *Network) Enter(command *exec.Cmd) {
	if n == nil {
		return
	}
	args := []string{n.enter, "--net=" + path(n.files[0])}
	if len(n.files) > 1 {
		args = append(args, "--user="+path(n.files[1]), "--preserve-credentials")
	}
	// By its name, which a shell prints; it is found in the PATH of its environment.
	command.Path, command.Args = n.enter, slices.Concat(args, []string{"--"}, command.Args)
}

// path is how another process opens a file that this one has open.
func path(file *os.File) string {
	return "/proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + strconv.Itoa(int(file.Fd()))
}

// Close lets the network go. It lasts as long as a process is in it.
func (n *Network) Close() {
	if n == nil {
		return
	}
	for _, file := range n.files {
		_ = file.Close()
	}
}
