package practice

import "golang.org/x/sys/unix"

// These read and write the settings of a terminal, and say how much input waits there.
const (
	getSettings  = unix.TCGETS
	setSettings  = unix.TCSETS
	inputWaiting = unix.TIOCINQ
)
