// Package lifeline makes sure that no process of the lab outlives it, even when
// the supervisor is killed with SIGKILL and can clean up nothing.
//
// Every process of the lab inherits two files. The first is the reading end of
// a pipe whose writing end only the supervisor has: the kernel closes it when
// the supervisor dies, however it dies, and the read returns. The second is a
// lock file that stays locked while any process has it open, so a process that
// can take that lock knows that nothing of the lab is left.
package lifeline

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// env tells a child that it inherited the files, and where they begin.
const env = "LAB_LIFELINE_FD"

// Env is the variable to set for a child that gets the pipe and the lock as its
// first two extra files (see [os/exec.Cmd.ExtraFiles]).
const Env = env + "=3"

// Files are the two inherited files. Both are nil in a process that was not
// started by the supervisor, for instance an API server started by envtest.
type Files struct {
	Pipe, Alive *os.File
}

// Inherit finds the inherited files and ends this process as soon as the
// supervisor is gone. Nothing is saved first: etcd is made to be killed, and
// the others keep no state of their own.
func Inherit() Files {
	fd, err := strconv.Atoi(os.Getenv(env))
	if err != nil {
		return Files{}
	}
	_ = os.Unsetenv(env)
	syscall.CloseOnExec(fd)
	syscall.CloseOnExec(fd + 1)
	return Files{
		Pipe:  os.NewFile(uintptr(fd), "lifeline"),
		Alive: os.NewFile(uintptr(fd+1), "alive"),
	}
}

// ExitWhenCut blocks until the supervisor is gone and then ends the process. A
// process without a lifeline returns at once.
func (f Files) ExitWhenCut() {
	if f.Pipe == nil {
		return
	}
	_, _ = f.Pipe.Read(make([]byte, 1)) // nobody ever writes: it returns at the end of the file
	// Most processes do nothing with the lock but hold it. Without this, the garbage
	// collector would close it.
	runtime.KeepAlive(f.Alive)
	os.Exit(1)
}
