package runtime

import (
	"context"
	"os"
	"syscall"
)

// waitGone waits until the shim that holds this life FIFO is gone, or ctx ends.
// It costs no thread.
func waitGone(ctx context.Context, fifo string) error {
	f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer stop()
	_, _ = f.Read(make([]byte, 1)) // the end of the file: nobody writes
	return ctx.Err()
}
