package practice

import "golang.org/x/sys/unix"

// These read and write the settings of a terminal.
const (
	getSettings = unix.TCGETS
	setSettings = unix.TCSETS
)
