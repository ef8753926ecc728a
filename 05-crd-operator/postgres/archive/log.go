package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// firstNeeded is the number of the first segment that a recovery from one of these needs. It need
// not be that of the oldest: a database that was restored continues at an earlier place of the log.
func firstNeeded(bases []Base) string {
	first := number(bases[0].Segment)
	for _, b := range bases {
		first = min(first, number(b.Segment))
	}
	return first
}

// Placeholder is the content of the history of a timeline that was never begun. None is kept in the
// archive.
const Placeholder = "# no timeline has this number\n"

var historyName = regexp.MustCompile(`^[0-9A-F]{8}\.history$`)

// isHistory reports whether a file of the log is the history of a timeline.
func isHistory(name string) bool { return historyName.MatchString(name) }

// hasHistoryAfter reports whether the archive has the history of a later timeline.
func (f Folder) hasHistoryAfter(history string) bool {
	entries, err := os.ReadDir(f.wal())
	return err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		name, _ := strings.CutSuffix(entry.Name(), ".gz")
		return isHistory(name) && name > history
	})
}

// abandonedAfter is how old a file is that nobody can still be writing.
const abandonedAfter = time.Hour

// pruneLog removes the segments that none of these base backups needs, on every timeline, and what
// a program that was killed has left half written. The histories of timelines stay: they are
// small, and without them no later timeline can be followed.
func (f Folder) pruneLog(kept []Base) error {
	entries, err := os.ReadDir(f.wal())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		name, _ := strings.CutSuffix(entry.Name(), ".gz")
		unneeded := len(kept) > 0 && isSegment(name) && number(name) < firstNeeded(kept)
		if unneeded || isAbandoned(entry) {
			if err := os.Remove(filepath.Join(f.wal(), entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func isAbandoned(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && strings.HasPrefix(entry.Name(), unnamed) && time.Since(info.ModTime()) > abandonedAfter
}

// Unbroken returns the base backups from which on all of the log is in the archive, the oldest
// first, and the number of the last segment that is missing, if one is. A recovery ends before
// that one.
func (f Folder) Unbroken() (bases []Base, gap string, err error) {
	bases, err = f.Bases()
	if err != nil || len(bases) == 0 {
		return nil, "", err
	}
	names, err := f.segments()
	if err != nil {
		return nil, "", err
	}
	numbers := []int64{count(firstNeeded(bases)) - 1}
	for _, name := range names {
		if len(name) == segmentLength && number(name) >= firstNeeded(bases) {
			numbers = append(numbers, count(number(name)))
		}
	}
	slices.Sort(numbers)
	for i, n := range numbers[1:] {
		if n > numbers[i]+1 {
			gap = fmt.Sprintf("%08X%08X", (n-1)>>8, (n-1)&0xff)
		}
	}
	return slices.DeleteFunc(bases, func(b Base) bool { return number(b.Segment) <= gap }), gap, nil
}

// SegmentSize is that of PostgreSQL's segments of the log, in bytes.
const SegmentSize = 16 << 20

// SegmentEnd is the position at which a segment ends, or zero if it is another file.
func SegmentEnd(name string) uint64 {
	if len(name) != segmentLength || !isSegment(name) {
		return 0
	}
	return uint64(count(number(name))+1) * SegmentSize
}

// count is a number of a segment as one that counts: its second half goes to 255.
func count(number string) int64 {
	high, _ := strconv.ParseInt(number[:8], 16, 64) // isSegment has seen to it
	low, _ := strconv.ParseInt(number[8:], 16, 64)
	return high<<8 + low
}
