package shim

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	filepath "path"
	"syscall"
	"unsafe"
)

// serveControl obeys the commands that come through the control FIFO:
//
//	signal 15      sends a signal to the main process
//	resize 80 24   sets the size of the terminal
//	reopen-log     opens the log again, after it was renamed
//	close-stdin    ends the container's standard input
func (c *container) serveControl() error {
	// Open for writing as well, or the first writer's leaving would be the end.
	fifo, err := os.OpenFile(filepath.Join(c.dir, ControlFIFO), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("opening the control FIFO: %w", err)
	}
	go func() {
		for lines := bufio.NewScanner(fifo); lines.Scan(); {
			if err := c.obey(lines.Text()); err != nil {
				fmt.Fprintf(os.Stderr, "control: %s: %v\n", lines.Text(), err)
			}
		}
	}()
	return nil
}

func (c *container) obey(line string) error {
	var command string
	var a, b int
	_, _ = fmt.Sscan(line, &command, &a, &b) // what is missing stays 0
	switch command {
	case "signal":
		c.main.signal(syscall.Signal(a))
	case "resize":
		return resize(c.master, a, b)
	case "reopen-log":
		return c.log.reopen()
	case "close-stdin":
		c.closeStdin()
	default:
		return errors.New("unknown command")
	}
	return nil
}

// resize sets the size of a terminal, which tells its programs by a signal.
func resize(terminal *os.File, columns, rows int) error {
	if terminal == nil {
		return errors.New("the container has no terminal")
	}
	size := struct{ rows, columns, x, y uint16 }{rows: uint16(rows), columns: uint16(columns)}
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, terminal.Fd(), syscall.TIOCSWINSZ, uintptr(unsafe.Pointer(&size)))
	if errno != 0 {
		return errno
	}
	return nil
}
