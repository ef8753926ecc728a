package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// killPatience bounds the wait for a container that was killed. The shim gives
// up earlier on a process that hangs in the kernel.
const killPatience = 15 * time.Second

// StopContainer asks the container to end and kills it after the grace period,
// in seconds.
func (s *Service) StopContainer(ctx context.Context, id string, grace int64) error {
	c, err := s.container(id)
	if err != nil {
		return err
	}
	return s.stop(ctx, c, time.Duration(grace)*time.Second)
}

func (s *Service) stop(ctx context.Context, c *container, grace time.Duration) error {
	running, err := c.running(ctx)
	if err != nil || !running {
		return err
	}
	return c.stop(ctx, grace)
}

// stop asks the container to end, if there is a grace period, and then kills it.
func (c *container) stop(ctx context.Context, grace time.Duration) error {
	if grace > 0 {
		ended, err := c.signal(ctx, signalNumber(c.record.StopSignal), grace)
		if ended || err != nil {
			return err
		}
	}
	ended, err := c.signal(ctx, int(syscall.SIGKILL), killPatience)
	if err == nil && !ended {
		err = fmt.Errorf("container %s was killed, but does not end", c.record.ID)
	}
	return err
}

// running waits for a start that isn't over. If the container counted as one that doesn't run, its
// folder would be deleted, and it would go on without anybody who knows it.
func (c *container) running(ctx context.Context) (bool, error) {
	c.mu.Lock()
	starting := c.starting
	c.mu.Unlock()
	if starting {
		select {
		case <-c.begun:
		case <-ctx.Done():
			return false, fmt.Errorf("waiting until container %s has started, to stop it: %w", c.record.ID, context.Cause(ctx))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started != nil && c.exit == nil, nil
}

// signal sends a signal and waits for the container to end.
func (c *container) signal(ctx context.Context, number int, patience time.Duration) (ended bool, err error) {
	// No shim: it is ending by itself.
	if err := c.tell("signal %d", number); err != nil && !errors.Is(err, errNoShim) {
		return false, fmt.Errorf("sending signal %d to the container: %w", number, err)
	}
	select {
	case <-c.done:
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-time.After(patience):
		return false, nil
	}
}

// RemoveContainer ends the container, if need be, and deletes its directory. Its
// log is the kubelet's to delete.
func (s *Service) RemoveContainer(ctx context.Context, id string) error {
	c, err := s.container(id)
	if err != nil {
		return nil // removing is to be possible any number of times
	}
	if c.claimStart() { // nobody starts it from now on
		close(c.begun)
	}
	if err := s.stop(ctx, c, 0); err != nil {
		return err
	}
	if err := removeAll(c.dir); err != nil {
		return fmt.Errorf("removing the container: %w", err)
	}
	s.mu.Lock()
	delete(s.containers, id)
	s.mu.Unlock()
	return nil
}

// removeAll deletes a directory, also when the container has closed some part of
// it to its owner, the person who runs the lab.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	return os.RemoveAll(dir)
}
