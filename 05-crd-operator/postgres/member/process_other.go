//go:build !linux

package member

import "syscall"

// endWithParent does nothing here: PostgreSQL is in the agent's process group, and who runs
// pods ends all of that.
func endWithParent() *syscall.SysProcAttr { return nil }
