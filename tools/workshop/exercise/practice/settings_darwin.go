package practice

import "golang.org/x/sys/unix"

// These read and write the settings of a terminal.
const (
	getSettings = unix.TIOCGETA
	setSettings = unix.TIOCSETA
)
