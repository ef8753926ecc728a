// Package shim is the parent process of a container: the lab's counterpart of
// conmon and containerd-shim. It starts the container's process, writes its log,
// passes signals on, and records how it ended, so that a container outlives a
// restart of the kubelet, but not the lab.
//
// The shim has no binary of its own. A program that imports this package and
// starts itself again under the name lab-shim becomes one, in an init function.
// Go initialises packages in the order of their import paths, and this one
// imports the standard library only, and small packages of the lab that import no
// more, so it takes over before the many megabytes
// of Kubernetes in the same binary are initialised. While init functions run the
// main goroutine is tied to the main thread, which is what the kernel's
// per-thread settings (parent death signal, capabilities) need. Of the standard
// library, only what sorts early or is ready early will do: os/exec, os/signal
// and path/filepath would come after github.com, so package path stands in for
// the last (there is no Windows here).
//
// A container is a directory, laid out by the runtime:
//
//	spec.json     what to run, see [Spec]
//	rootfs/       the root of its files: an image's, or links to the host's
//	control       FIFO for commands, one per line, see control.go
//	stdin         FIFO, when the container has a standard input
//	life          FIFO that the shim keeps open: a reader meets the end of the
//	              file when the shim is gone, however it went
//	started.json  see [Started]
//	exit.json     see [Exit]
//
// FIFOs, and not sockets, because the path of a socket is limited to about 100
// bytes.
package shim

import (
	"os"
	filepath "path"
	"syscall"
)

// The names that turn a program into a shim, given as its first argument.
const (
	// Name runs the container in the directory that is the second argument.
	Name = "lab-shim"
	// ExecName runs one more command in that container: third "tty" or "", then
	// the command. Its standard streams are those of the command.
	ExecName = "lab-exec"
	// ProbeName only tries whether the kernel allows a container's mounts.
	ProbeName = "lab-probe"
)

// NamespacesEnv holds the [Namespaces] of the process that starts a shim.
const NamespacesEnv = "LAB_NAMESPACES"

// The files that a shim inherits, by descriptor.
const (
	// LifelineFD is a pipe nobody writes to. At its end, the shim ends the
	// container. Its other end is held by the supervisor (for lab-shim) or by the
	// kubelet (for lab-exec).
	LifelineFD = 3 + iota
	// AliveFD is only kept open, so that the lab knows when all is gone.
	AliveFD
	// SyncFD gets a [Report] once the command runs or could not be started.
	SyncFD
	// MasterFD and SlaveFD are the terminal of a container that has one.
	MasterFD
	SlaveFD
)

// The files of a container's directory.
const (
	SpecFile    = "spec.json"
	StartedFile = "started.json"
	ExitFile    = "exit.json"
	ControlFIFO = "control"
	StdinFIFO   = "stdin"
	LifeFIFO    = "life"
	RootDir     = "rootfs"
)

func init() {
	run, ok := map[string]func([]string) int{
		Name:      runContainer,
		ExecName:  runExec,
		ProbeName: runProbe,
	}[filepath.Base(os.Args[0])]
	if !ok {
		return
	}
	for fd := LifelineFD; fd <= SyncFD; fd++ {
		syscall.CloseOnExec(fd) // the container inherits none of them
	}
	// Not os.Exit: under the race detector, that takes a second.
	syscall.Exit(run(os.Args[1:]))
}
