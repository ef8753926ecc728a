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
	"time"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// PostgreSQL begins the first timeline of which there is no history: it looks for those after its
// own, one by one. To have it begin one with a higher number, the agent puts histories there of those
// between, which are only a comment. A standby that follows fetches them as it does the others, and does
// not go on if the primary lacks one. So a clone writes all of them (historyOf).

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
	return a.orReplays(ctx, a.session.promote(ctx, promotionTimeout)) // another pod would begin the replay again
}

// orReplays makes an error of waiting too long one that says not yet, if PostgreSQL has replayed more since the last
// time.
func (a *agent) orReplays(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && a.replaysOn(ctx) {
		return waiting{err}
	}
	return err
}

// replaysOn reports whether PostgreSQL has replayed more of the log than when this was asked last.
func (a *agent) replaysOn(ctx context.Context) bool {
	if err := a.session.open(ctx, a.server.local("")); err != nil {
		return false
	}
	row, err := a.session.row(ctx, "SELECT coalesce(pg_last_wal_replay_lsn(), '0/0')")
	if err != nil {
		return false
	}
	at, err := parseLSN(row[0])
	before := a.replayed
	a.replayed = max(before, at)
	return err == nil && at > before
}

func historyName(timeline int32) string { return fmt.Sprintf("%08X.history", timeline) }

// historyOf is what a clone writes for a number up to its own timeline's. The history of an ancestor is
// how its own one begins, to the byte: a standby compares what it fetches with the archive. The other
// numbers were left out, or are those of logs that this one does not come from.
func historyOf(n, timeline int32, own string) string {
	if n == timeline {
		return own
	}
	if ancestors, _, found := strings.Cut(own, fmt.Sprintf("\n%d\t", n)); found {
		return ancestors
	}
	return archive.Placeholder
}

// leaveOut puts placeholders where there is no history yet, from the first of these numbers on and up
// to the next timeline, without that. One that a crash has cut off has no fork either, so it is one.
func (l layout) leaveOut(first, next int32) error {
	for n := first; n < next; n++ {
		err := writeFile(filepath.Join(l.log(), historyName(n)), os.O_EXCL, archive.Placeholder)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return archive.SyncFolder(l.log())
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

// parseHistory reads a history file of PostgreSQL. Each line has a timeline, the position at
// which it ended, and why. That of a timeline that was never begun has only a comment.
func parseHistory(content string) ([]plan.Fork, error) {
	var history []plan.Fork
	for line := range strings.Lines(content) {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		var fork plan.Fork
		var at string
		_, err := fmt.Sscan(line, &fork.Timeline, &at)
		if err == nil {
			fork.At, err = parseLSN(at)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the history of a timeline: unexpected line %q: %w", line, err)
		}
		history = append(history, fork)
	}
	return history, nil
}

// parseLSN reads a position as PostgreSQL prints it.
func parseLSN(s string) (plan.LSN, error) {
	var high, low uint32
	if _, err := fmt.Sscanf(s, "%X/%X", &high, &low); err != nil {
		return 0, fmt.Errorf("%q is no position in a log: %w", s, err)
	}
	return plan.LSN(high)<<32 | plan.LSN(low), nil
}

// endReaders ends the transactions of clients if replay waits for one of them, and counts them.
// A reader may hold replay for max_standby_streaming_delay, and a promotion comes after it. That
// setting does not help here: who waits already does not read it again.
const endReaders = `(SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND xact_start IS NOT NULL
	AND EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'startup' AND (wait_event LIKE 'RecoveryConflict%' OR wait_event_type IN ('Lock', 'BufferPin'))))`

// resumeReplay has PostgreSQL go on if somebody has paused it. A promotion does so by itself.
const resumeReplay = "SELECT pg_wal_replay_resume() WHERE pg_is_wal_replay_paused()"

// promote has PostgreSQL take writes, once it has replayed what it has received.
func (s session) promote(ctx context.Context, timeout time.Duration) error {
	if _, err := s.rows(ctx, "SELECT pg_promote(wait => false)"); err != nil {
		return err
	}
	return s.await(ctx, timeout, "PostgreSQL takes writes", writable+", "+endReaders)
}

// awaitReplay returns when all of the log on the disk is replayed. A receiver comes after it.
func (s session) awaitReplay(ctx context.Context) error {
	if _, err := s.rows(ctx, resumeReplay); err != nil {
		return err
	}
	return s.await(ctx, queryTimeout, "the log on the disk is replayed", replayed+", "+endReaders)
}
