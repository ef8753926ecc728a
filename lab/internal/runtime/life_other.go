//go:build !linux

package runtime

import (
	"context"
	"syscall"
	"time"
)

// lifePoll is how often a shim is looked at. On macOS, kqueue does not report
// that the last writer of a FIFO left.
const lifePoll = 50 * time.Millisecond

// waitGone waits until the shim that holds this life FIFO is gone, or ctx ends.
func waitGone(ctx context.Context, fifo string) error {
	fd, err := syscall.Open(fifo, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Read(fd, make([]byte, 1))
		if n == 0 && err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lifePoll):
		}
	}
}
