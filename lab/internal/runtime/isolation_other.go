//go:build !linux

package runtime

import (
	"syscall"

	"example.com/hacking-a-controller/lab/internal/shim"
)

func possible() isolation { return noIsolation }

func (isolation) attr(*shim.User) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
