//go:build !linux

package member

import (
	"syscall"
	"time"
)

// endWithParent does nothing here: PostgreSQL is in the agent's process group, and who runs
// pods ends all of that.
func endWithParent() *syscall.SysProcAttr { return nil }

// killChildren does nothing here: they end a little later.
func killChildren(int, time.Duration) {}
