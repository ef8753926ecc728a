package shim

import "syscall"

// pause is a container that only waits, as the image of that name does.
type pause chan syscall.Signal

func newPause() pause { return make(pause, 8) }

func (p pause) signal(sig syscall.Signal) {
	select {
	case p <- sig:
	default: // it ends already
	}
}

func (p pause) signalGroup(sig syscall.Signal) { p.signal(sig) }

// wait returns 0 after a polite signal.
func (p pause) wait() int {
	for {
		switch sig := <-p; sig {
		case syscall.SIGTERM, syscall.SIGINT:
			return 0
		case syscall.SIGKILL:
			return 128 + int(sig)
		}
	}
}
