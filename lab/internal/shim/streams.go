package shim

import (
	"fmt"
	"io"
	"os"
	filepath "path"
	"syscall"
)

// openPipes makes the standard streams of a container without a terminal.
func (c *container) openPipes() (files []*os.File, err error) {
	in, err := c.openStdin()
	if err != nil {
		return nil, err
	}
	files = append(files, in)
	for _, stream := range []string{"stdout", "stderr"} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		files = append(files, w)
		c.output.Go(func() { c.log.copyFrom(stream, r) })
	}
	return files, nil
}

// openStdin opens the FIFO that attached clients write to. The container reads
// from it directly. The shim holds a writing end, so the container meets the end
// of its input only after close-stdin.
func (c *container) openStdin() (*os.File, error) {
	if !c.spec.Stdin {
		return os.Open(os.DevNull)
	}
	path := filepath.Join(c.dir, StdinFIFO)
	// Opening to read waits for a writer, unless it does not block.
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening standard input: %w", err)
	}
	if c.stdin, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		return nil, fmt.Errorf("opening standard input: %w", err)
	}
	return in, syscall.SetNonblock(int(in.Fd()), false)
}

// openTerminal uses the terminal that the runtime opened.
func (c *container) openTerminal() ([]*os.File, error) {
	syscall.CloseOnExec(MasterFD)
	syscall.CloseOnExec(SlaveFD)
	c.master = os.NewFile(MasterFD, "terminal")
	slave := os.NewFile(SlaveFD, "terminal")
	c.output.Go(func() { c.log.copyFrom("stdout", c.master) })
	if c.spec.Stdin {
		in, err := os.OpenFile(filepath.Join(c.dir, StdinFIFO), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("opening standard input: %w", err)
		}
		go func() { _, _ = io.Copy(c.master, in) }()
	}
	return []*os.File{slave, slave, slave}, nil
}

// endOfTransmission is what Ctrl-D sends.
const endOfTransmission = 4

func (c *container) closeStdin() {
	if c.master != nil {
		_, _ = c.master.Write([]byte{endOfTransmission})
		return
	}
	if c.stdin != nil {
		_ = c.stdin.Close()
	}
}
