//go:build !linux

package runtime

import (
	"os"
	"syscall"

	"example.com/hacking-a-controller/lab/internal/shim"
)

func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func candidates() []isolation { return nil }

func (isolation) attr(*shim.User) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
