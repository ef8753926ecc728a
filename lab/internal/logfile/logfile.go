// Package logfile prints the logs of components.
package logfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// followInterval is how often a log is looked at for new lines.
const followInterval = 100 * time.Millisecond

// Print copies the file and, if asked to follow, what is appended to it until ctx
// ends.
func Print(ctx context.Context, out io.Writer, path string, follow bool) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it has written no log yet (to start it: lab up)")
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for {
		if _, err := io.Copy(out, f); err != nil {
			return err
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followInterval):
		}
		next := successor(f, path)
		if next == nil {
			continue
		}
		if _, err := io.Copy(out, f); err != nil { // its last lines
			return err
		}
		_ = f.Close()
		f = next
	}
}

// successor opens the file that has taken the place of f, if one has: a log that
// has grown large is set aside.
func successor(f *os.File, path string) *os.File {
	old, err := f.Stat()
	if err != nil {
		return nil
	}
	next, err := os.Open(path)
	if err != nil {
		return nil
	}
	if current, err := next.Stat(); err != nil || os.SameFile(old, current) {
		_ = next.Close()
		return nil
	}
	return next
}
