package practice

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"time"
)

// pollInterval is how often saves looks for changes.
const pollInterval = 150 * time.Millisecond

// saves reports that files were saved in folders or below them, once nothing more changes: an
// editor writes a file in several steps, and a formatter once more. Until somebody takes
// the report, more saves are part of it. It looks at all files again and again, because
// not every file system reports changes, and a stage has only a few hundred files.
func saves(ctx context.Context, dirs ...string) (<-chan struct{}, error) {
	last, err := sources(dirs)
	if err != nil {
		return nil, fmt.Errorf("watching for changes: %w", err)
	}
	saved := make(chan struct{})
	go func() {
		defer close(saved)
		ticker := time.NewTicker(pollInterval)
		defer ticker.Stop()
		changing := false
		var out chan<- struct{} // nil, unless there is something to report
		for {
			select {
			case <-ticker.C:
				now, err := sources(dirs)
				switch {
				case err != nil: // it is gone, maybe for a moment
				case !maps.Equal(now, last):
					last, changing, out = now, true, nil
				case changing:
					changing, out = false, saved
				}
			case out <- struct{}{}:
				out = nil
			case <-ctx.Done():
				return
			}
		}
	}()
	return saved, nil
}

// A stamp differs when a file was saved.
type stamp struct {
	modified time.Time
	size     int64
}

// sources are the files that people write, in dirs and in the folders below them that are not
// hidden. What they build is in bin/.
func sources(dirs []string) (map[string]stamp, error) {
	stamps := map[string]stamp{}
	for _, dir := range dirs {
		if err := stampAll(dir, stamps); err != nil {
			return nil, err
		}
	}
	return stamps, nil
}

// stampAll adds the files in a folder.
func stampAll(dir string, stamps map[string]stamp) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			return nil // gone already
		case entry.IsDir() && path != dir && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir() || !isSource(path):
			return nil
		}
		if info, err := entry.Info(); err == nil {
			stamps[path] = stamp{info.ModTime(), info.Size()}
		}
		return nil
	})
}

// isSource says whether a file is one that people write. Hidden ones and logs are not, nor are
// those that editors make next to it: they write into one and rename it, or look
// whether they may write here (vim: 4913).
func isSource(path string) bool {
	name := filepath.Base(path)
	for _, prefix := range []string{".", "#", "4913"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	for _, suffix := range []string{".log", "~", ".swp", ".tmp", "___jb_tmp___", "___jb_old___"} {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return true
}
