//go:build !linux

package shim

import "syscall"

// Namespaces names nothing: only Linux has namespaces.
func Namespaces() string { return "" }

// becomeReaper does nothing: only Linux hands orphans to an ancestor. What
// leaves the process group of a container outlives it here.
func becomeReaper() error { return nil }

func processAttr(*Spec) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func children() []int { return nil }
