package member

import "syscall"

// endWithParent has the kernel stop PostgreSQL when the agent ends in whatever way: as a
// crash would, so that it answers no client any more.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
}
