package practice

import "golang.org/x/sys/unix"

// These read and write the settings of a terminal, and say how much input waits there.
const (
	getSettings  = unix.TIOCGETA
	setSettings  = unix.TIOCSETA
	inputWaiting = 0x4004667f // FIONREAD, which the package lacks
)
