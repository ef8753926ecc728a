//go:build !linux

package shim

import (
	"os"
	"syscall"
)

// Namespaces names nothing: only Linux has namespaces.
func Namespaces() string { return "" }

// Self is this program, to be started once more. If a newer one has replaced its file, it is that one.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// becomeReaper does nothing: only Linux hands orphans to an ancestor. What
// leaves the process group of a container outlives it here.
func becomeReaper() error { return nil }

func processAttr(*Spec) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func children() []int { return nil }
