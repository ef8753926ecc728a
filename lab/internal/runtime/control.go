package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// errNoShim says that nobody is there to obey.
var errNoShim = errors.New("the container does not run")

// tell gives a command to the container's shim.
func (c *container) tell(format string, args ...any) error {
	fifo, err := c.openFIFO(shim.ControlFIFO)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(fifo, format+"\n", args...)
	return errors.Join(err, fifo.Close())
}

// alive reports whether the container has a shim.
func (c *container) alive() bool {
	fifo, err := c.openFIFO(shim.ControlFIFO)
	if err != nil {
		return false
	}
	_ = fifo.Close()
	return true
}

// openFIFO opens a FIFO that the shim reads. Opening it to write without
// blocking fails when nobody has it open to read.
func (c *container) openFIFO(name string) (*os.File, error) {
	fifo, err := os.OpenFile(filepath.Join(c.dir, name), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) || errors.Is(err, os.ErrNotExist) {
		return nil, errNoShim
	}
	return fifo, err
}
