package member

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// PostgreSQL begins the first timeline of which there is no history: it looks for those after its
// own, one by one. To have it begin one with a higher number, the agent puts histories there of those
// between, which are only a comment. A standby that follows fetches them as it does the others, and a
// clone has them.

// promote has PostgreSQL take writes, on this timeline.
func (a *agent) promote(ctx context.Context, timeline int32) error {
	_, own, err := a.session.identify(ctx)
	if err != nil {
		return err
	}
	if err := a.server.files.leaveOut(own.Timeline+1, timeline); err != nil {
		return err
	}
	a.begins = timeline
	return a.session.promote(ctx)
}

func historyName(timeline int32) string { return fmt.Sprintf("%08X.history", timeline) }

// leaveOut puts placeholders where there is no history yet, from the first of these numbers on and up
// to the next timeline, without that. One that a crash has cut off has no fork either, so it is one.
func (l layout) leaveOut(first, next int32) error {
	for n := first; n < next; n++ {
		file, err := os.OpenFile(filepath.Join(l.log(), historyName(n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = file.WriteString(archive.Placeholder)
		if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return syncFolder(l.log())
}

// dropPlaceholders removes those that no timeline comes after: a promotion was cut off, or a standby
// that was fetching them. PostgreSQL would take the last one for the timeline to recover to, find
// nothing in it, and not start.
func (l layout) dropPlaceholders() error {
	histories, err := histories(l.log())
	for _, path := range slices.Backward(histories) {
		if placeholder, err := isPlaceholder(path); !placeholder || err != nil {
			break // what cannot be read is PostgreSQL's to report
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return err
}

// newestTimeline is the highest number of a history on the disk, or 0.
func (l layout) newestTimeline() int32 {
	histories, err := histories(l.log())
	if err != nil || len(histories) == 0 {
		return 0
	}
	timeline, _ := strconv.ParseInt(filepath.Base(histories[len(histories)-1])[:8], 16, 32) // it has such a name
	return int32(timeline)
}

// histories are the paths of those in a folder, by number.
func histories(folder string) ([]string, error) {
	return filepath.Glob(filepath.Join(folder, strings.Repeat("[0-9A-F]", 8)+".history"))
}

func readHistory(path string) ([]plan.Fork, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseHistory(string(content))
}

// isPlaceholder reports whether a file is the history of a timeline that was never begun.
func isPlaceholder(path string) (bool, error) {
	if filepath.Ext(path) != ".history" {
		return false, nil
	}
	forks, err := readHistory(path)
	return len(forks) == 0, err
}
