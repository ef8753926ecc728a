package member

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/hacking-a-controller/05-crd-operator/postgres/archive"
	"example.com/hacking-a-controller/05-crd-operator/postgres/plan"
)

// checkFor is how long a standby waits for the primary to archive a file.
const checkFor = time.Second

// archiveOrNote archives a file, and leaves why it has failed where the agent finds it.
func archiveOrNote(ctx context.Context, f archive.Folder, path string) error {
	err := archiveFile(ctx, f, path)
	if err != nil {
		_ = os.WriteFile(layout("..").archiveFailure(), []byte(err.Error()), 0o600) // PostgreSQL logs it, too
	}
	return err
}

// archiveFile is what PostgreSQL runs for each file of its log that is complete. The primary
// puts it into the archive. A standby has the same file, and lets it go when the archive has it.
// If it waits in vain, it puts the file there itself: the primary may have been cloned later, and
// not have it.
func archiveFile(ctx context.Context, f archive.Folder, path string) error {
	for _, unneeded := range []func(string) (bool, error){wasCutOff, isPlaceholder} {
		if unneeded, err := unneeded(path); unneeded || err != nil {
			return err
		}
	}
	name := filepath.Base(path)
	for deadline := time.Now().Add(checkFor); isStandby(".") && time.Now().Before(deadline); {
		if err := f.Check(path, name); !errors.Is(err, archive.ErrNotThere) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
	if err := claim(f, path); err != nil {
		return err
	}
	return f.Put(path, name)
}

// wasCutOff reports whether a timeline has ended within a segment. The next timeline begins with a
// copy of it, so nobody reads this one, of which members have different ones. What a new primary
// has left of it is called .partial.
func wasCutOff(path string) (bool, error) {
	name, isPart := strings.CutSuffix(filepath.Base(path), ".partial")
	end := plan.LSN(archive.SegmentEnd(name))
	if isPart || end == 0 {
		return isPart, nil
	}
	histories, err := histories(filepath.Dir(path))
	timeline, _ := strconv.ParseInt(name[:8], 16, 32) // as it is a segment's
	for _, history := range slices.Backward(histories) {
		forks, err := readHistory(history)
		if len(forks) > 0 || err != nil { // that of the newest timeline
			return slices.ContainsFunc(forks, func(f plan.Fork) bool { return f.Timeline == int32(timeline) && f.At < end }), err
		}
	}
	return false, err
}

// claim makes the archive that of the database whose segment this is. Its first page has the
// identifier of the database.
func claim(f archive.Folder, path string) error {
	if archive.SegmentEnd(filepath.Base(path)) == 0 {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var page [32]byte
	if _, err := io.ReadFull(file, page[:]); err != nil {
		return err
	}
	return f.Claim(strconv.FormatUint(binary.LittleEndian.Uint64(page[24:]), 10))
}

// quietly is for a PostgreSQL that is stopped, and its commands with it: they print where they
// were.
const quietly = "GOTRACEBACK=none "

// archiveCommand and fetchCommand are what PostgreSQL runs: it replaces %p by a path, and %f by
// a name.
func archiveCommand(program, folder string) string {
	return fmt.Sprintf(quietly+"%s archive %s %%p", word(program), word(folder))
}

// fetchCommand fetches no segment after the last one, if one is named.
func fetchCommand(program, folder, last string) string {
	return fmt.Sprintf(quietly+"%s fetch %s '%s' %%f %%p", word(program), word(folder), last)
}

// word is a value as the shell has it, in a command of PostgreSQL.
func word(value string) string {
	return "'" + strings.NewReplacer(`'`, `'\''`, `%`, `%%`).Replace(value) + "'"
}
