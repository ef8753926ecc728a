package practice

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// saves sends the name of each file that is saved in dir or in a folder below it,
// until ctx ends.
func saves(ctx context.Context, dir string) (<-chan string, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", dir, err)
	}
	if err := addFolders(watcher, dir); err != nil {
		_ = watcher.Close()
		return nil, fmt.Errorf("watching %s: %w", dir, err)
	}
	saved := make(chan string)
	go func() {
		defer close(saved)
		defer watcher.Close()
		for {
			name := ""
			select {
			case event := <-watcher.Events:
				// Where a folder is new, files may be in it before anybody watches.
				if event.Has(fsnotify.Create) {
					_ = addFolders(watcher, event.Name)
				}
				if event.Op == fsnotify.Chmod || !isSource(event.Name) {
					continue
				}
				name = event.Name
			case err := <-watcher.Errors:
				if !errors.Is(err, fsnotify.ErrEventOverflow) {
					continue
				}
				name = dir // events were lost: there may have been a save
			case <-ctx.Done():
				return
			}
			select {
			case saved <- name:
			case <-ctx.Done():
				return
			}
		}
	}()
	return saved, nil
}

// addFolders watches path, if it is a folder, and all folders below it that are not hidden.
func addFolders(watcher *fsnotify.Watcher, path string) error {
	return filepath.WalkDir(path, func(below string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && below == path:
			return err
		case err != nil:
			return nil // gone already
		case !entry.IsDir():
			return nil
		case below != path && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		}
		return watcher.Add(below)
	})
}

// isSource says whether a file is one that people write. Hidden ones are not, nor are
// those that editors make next to it: they write into one and rename it, or look
// whether they may write here (vim: 4913).
func isSource(path string) bool {
	name := filepath.Base(path)
	for _, prefix := range []string{".", "#", "4913"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	for _, suffix := range []string{"~", ".swp", ".tmp", "___jb_tmp___", "___jb_old___"} {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return true
}

// settle passes on the last of several saves, once there was no other for a moment:
// an editor writes a file in several steps, and a formatter once more.
func settle(ctx context.Context, saved <-chan string, moment time.Duration) <-chan string {
	settled := make(chan string)
	go func() {
		defer close(settled)
		var (
			last  string
			quiet <-chan time.Time
			out   chan<- string // nil, unless there is something to pass on
		)
		for {
			select {
			case name, ok := <-saved:
				if !ok {
					return
				}
				last, quiet, out = name, time.After(moment), nil
			case <-quiet:
				quiet, out = nil, settled
			case out <- last:
				out = nil
			case <-ctx.Done():
				return
			}
		}
	}()
	return settled
}
