// Package filelock lets processes take turns: whole-file locks, which end with the process that
// has them, however it ends.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollInterval is how often a lock that another process has is tried again.
const pollInterval = 20 * time.Millisecond

// Lock takes the lock on the file at path, which it makes, and waits for it until ctx ends.
// Children that inherit the file share the lock. The error is fs.ErrNotExist if the folder is
// gone.
func Lock(ctx context.Context, path string) (*os.File, error) {
	return lock(ctx, path, unix.Flock)
}

func lock(ctx context.Context, path string, flock func(fd, how int) error) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := wait(ctx, f, flock); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if isAt(f, path) {
			return f, nil
		}
		// The last one to have it has deleted the file. The next process makes another one.
		_ = f.Close()
	}
}

func wait(ctx context.Context, f *os.File, flock func(fd, how int) error) error {
	for {
		err := flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("locking %s (there are file systems without locks, shared ones: choose a folder on another one): %w", f.Name(), err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", f.Name(), context.Cause(ctx))
		case <-time.After(pollInterval):
		}
	}
}

func isAt(f *os.File, path string) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(have, now)
}
