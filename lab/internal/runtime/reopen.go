package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	reopenPatience = 5 * time.Second
	reopenPoll     = 2 * time.Millisecond
)

// ReopenContainerLog is called after the kubelet renamed the log, and returns
// when there is a new one.
func (s *Service) ReopenContainerLog(ctx context.Context, id string) error {
	c, err := s.container(id)
	if err != nil {
		return err
	}
	if err := c.tell("reopen-log"); err != nil {
		return fmt.Errorf("opening a new log: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, reopenPatience)
	defer cancel()
	for {
		if _, err := os.Stat(c.record.LogPath); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("opening a new log: %w", ctx.Err())
		case <-c.done:
			return fmt.Errorf("opening a new log: %w", errNoShim)
		case <-time.After(reopenPoll):
		}
	}
}
