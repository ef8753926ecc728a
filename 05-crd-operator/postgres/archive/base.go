package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Base is what is known of a base backup.
type Base struct {
	// ID is when it was begun. The order of the names is that of the times.
	ID string `json:"id"`
	// Segment is the name of the first file of the log that a recovery from it needs.
	Segment string `json:"segment"`
	// End is when the copy was complete. It has nothing that was committed later.
	End time.Time `json:"end"`
	// Bytes is the size of the copy.
	Bytes int64 `json:"bytes"`
}

const idFormat = "20060102T150405.000Z"

// NewID names a base backup that begins now.
func NewID(now time.Time) string { return now.UTC().Format(idFormat) }

// NextID names a base backup that begins now. The name comes after all others, also if the clock
// was ahead when one of them was made: a newer one must not be taken for the oldest.
func (f Folder) NextID(now time.Time) (string, error) {
	bases, err := f.Bases()
	for _, b := range bases {
		if begun, err := time.Parse(idFormat, b.ID); err == nil && !now.After(begun) {
			now = begun.Add(time.Millisecond)
		}
	}
	return NewID(now), err
}

// Tar is the path of the copy of a base backup.
func (f Folder) Tar(id string) string { return filepath.Join(f.base(id), "base.tar") }

// Begin makes room for a base backup. It counts once it is kept.
func (f Folder) Begin(id string) (*os.File, error) {
	if err := os.MkdirAll(f.base(id), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(f.Tar(id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// Keep has a base backup count, whose copy is complete and was restored on trial. It fails if the
// copy is not there any more.
func (f Folder) Keep(b Base) error {
	if copied, err := os.Stat(f.Tar(b.ID)); err != nil || copied.Size() != b.Bytes {
		return errors.Join(fmt.Errorf("the copy of base backup %s is not what was restored on trial", b.ID), err)
	}
	return writeOnce(f.description(b.ID), func(w io.Writer) error { return json.NewEncoder(w).Encode(b) })
}

func (f Folder) description(id string) string { return filepath.Join(f.base(id), "base.json") }

// Bases returns the base backups that count, the oldest first.
func (f Folder) Bases() ([]Base, error) {
	entries, err := os.ReadDir(f.bases())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var bases []Base
	for _, entry := range entries { // in the order of their names
		content, err := os.ReadFile(f.description(entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was not finished
		}
		var b Base
		if err == nil {
			err = json.Unmarshal(content, &b)
		}
		if err != nil {
			return nil, fmt.Errorf("reading what is known of base backup %s: %w", entry.Name(), err)
		}
		bases = append(bases, b)
	}
	return bases, nil
}

// Choose returns the base backup to restore if all is wanted until a time, or simply all if that
// is zero: the newest that was complete by then.
func (f Folder) Choose(until time.Time) (Base, error) {
	bases, err := f.Bases()
	if err != nil {
		return Base{}, err
	}
	if len(bases) == 0 {
		return Base{}, errors.New("there is no base backup on the disk of the backups")
	}
	if until.IsZero() {
		return bases[len(bases)-1], nil
	}
	last, err := f.Until()
	if err != nil {
		return Base{}, err
	}
	bases, gap, err := f.Unbroken()
	switch {
	case err != nil:
		return Base{}, err
	case len(bases) == 0:
		return Base{}, fmt.Errorf("the archive lacks segment %s of the log, so no time can be chosen; leave it out to have what is there", gap)
	case until.After(last), until.Before(bases[0].End):
		return Base{}, fmt.Errorf("the backups go from %s to %s, and %s is wanted; choose a time between them", format(bases[0].End), format(last), format(until))
	}
	later := slices.IndexFunc(bases, func(b Base) bool { return b.End.After(until) })
	if later < 0 {
		later = len(bases)
	}
	return bases[later-1], nil
}

func format(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Prune removes all base backups but the newest, and the log that only they need. It removes
// what was not finished, too: there is one backup at a time.
func (f Folder) Prune(keep int) error {
	bases, err := f.Bases()
	if err != nil {
		return err
	}
	kept := bases[max(0, len(bases)-keep):]
	entries, err := os.ReadDir(f.bases())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if !slices.ContainsFunc(kept, func(b Base) bool { return b.ID == entry.Name() }) {
			if err := f.Drop(entry.Name()); err != nil {
				return err
			}
		}
	}
	return f.pruneLog(kept)
}

// CheckKept returns an error if a base backup was removed meanwhile. As long as it is there, so is the
// log that a recovery from it needs: what is removed first is its description.
func (f Folder) CheckKept(id string) error {
	_, err := os.Stat(f.description(id))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("base backup %s was removed while it was restored, perhaps with log that was still needed; trying again with another one (to keep them longer: spec.backup.keep)", id)
	}
	return err
}

// Drop removes a base backup: first its description, so that half of it never counts.
func (f Folder) Drop(id string) error {
	if err := os.Remove(f.description(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(f.base(id))
}
