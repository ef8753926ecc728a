//go:build !linux

package shim

import (
	"os"
	"syscall"
)

// Namespaces names nothing: only Linux has namespaces.
func Namespaces() string { return "" }

// self is this program, to be started once more.
func self() (string, error) { return os.Executable() }

// becomeReaper does nothing: only Linux hands orphans to an ancestor. What
// leaves the process group of a container outlives it here.
func becomeReaper() error { return nil }

func processAttr(*Spec) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func children() []int { return nil }
