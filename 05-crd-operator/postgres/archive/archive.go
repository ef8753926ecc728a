// Package archive is the disk of a cluster's backups:
//
//	system          which database they are of
//	base/ID/        a base backup: base.tar, a copy of all files; base.json, what is known of it
//	wal/            the log: its segments, and the histories of its timelines, each compressed
//	until           when all that was acknowledged was here
//
// A file gets its name when all of it is on the disk, so what has a name is complete. All
// members may read and write at the same time.
package archive

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Folder is where the disk is mounted.
type Folder string

func (f Folder) system() string         { return filepath.Join(string(f), "system") }
func (f Folder) until() string          { return filepath.Join(string(f), "until") }
func (f Folder) bases() string          { return filepath.Join(string(f), "base") }
func (f Folder) base(id string) string  { return filepath.Join(f.bases(), id) }
func (f Folder) wal() string            { return filepath.Join(string(f), "wal") }
func (f Folder) log(name string) string { return filepath.Join(f.wal(), name+".gz") }

// These are the answers of an archive that are no failures.
var (
	// ErrNotThere means that the archive has no such file.
	ErrNotThere = errors.New("the archive does not have it")
	// ErrAnother means that it has another file of that name, which is never overwritten.
	ErrAnother = errors.New("the archive has another one of that name")
)

// Claim makes the disk that of a database, by its system identifier. It fails if it is that of
// another one, whose log would be mixed with this one's.
func (f Folder) Claim(system string) error {
	err := writeOnce(f.system(), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, system)
		return err
	})
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	owner, err := os.ReadFile(f.system())
	if err != nil {
		return err
	}
	if found := strings.TrimSpace(string(owner)); found != system {
		return fmt.Errorf("the disk has the backups of database %s, and this is database %s; give the cluster another name, or delete the disk if nobody needs them", found, system)
	}
	return nil
}

// Put keeps a file of the log, if it is not there yet.
func (f Folder) Put(path, name string) error {
	if err := f.Check(path, name); !errors.Is(err, ErrNotThere) {
		return err
	}
	err := writeOnce(f.log(name), func(w io.Writer) error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		compressed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		_, err = io.Copy(compressed, file)
		return errors.Join(err, compressed.Close())
	})
	if errors.Is(err, fs.ErrExist) {
		return f.Check(path, name) // another member was faster
	}
	return err
}

// Check returns nil if a file of the log is in the archive, or was in it and is not needed any
// more.
func (f Folder) Check(path, name string) error {
	kept, err := f.read(name)
	if errors.Is(err, ErrNotThere) {
		bases, err := f.Bases()
		if err != nil {
			return err
		}
		if len(bases) > 0 && isSegment(name) && number(name) < firstNeeded(bases) {
			return nil
		}
		return fmt.Errorf("%w: %s", ErrNotThere, name)
	}
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(kept, content) {
		err = fmt.Errorf("%w: %s", ErrAnother, name)
	}
	return err
}

// Last returns the newest segment of the log, by its number, or an empty string.
func (f Folder) Last() (string, error) {
	names, err := f.segments()
	if err != nil || len(names) == 0 {
		return "", err
	}
	return slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) }), nil
}

// segments are the names of those that are in the archive, and of notes about them.
func (f Folder) segments() (names []string, err error) {
	entries, err := os.ReadDir(f.wal())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if name, _ := strings.CutSuffix(entry.Name(), ".gz"); isSegment(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Get copies a file of the log to a path, unless it is a segment after the last one that is
// wanted. Without a last one, all are. PostgreSQL looks for histories one by one, so those of numbers
// that were left out are made up.
func (f Folder) Get(name, last, path string) error {
	if isSegment(name) && isSegment(last) && number(name) > number(last) {
		return fmt.Errorf("%w: %s is not wanted", ErrNotThere, name)
	}
	content, err := f.read(name)
	if errors.Is(err, ErrNotThere) && isHistory(name) && f.hasHistoryAfter(name) {
		content, err = []byte(Placeholder), nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// read returns a file of the log. Segments have 16 MiB.
func (f Folder) read(name string) ([]byte, error) {
	file, err := os.Open(f.log(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotThere, name)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s of the archive: %w", name, err)
	}
	content, err := io.ReadAll(compressed)
	if err != nil {
		return nil, fmt.Errorf("reading %s of the archive: %w", name, err)
	}
	return content, nil
}

// SetUntil says that all that was acknowledged until then is in the archive.
func (f Folder) SetUntil(t time.Time) error {
	return replace(f.until(), []byte(t.UTC().Format(time.RFC3339Nano)+"\n"))
}

// Until returns the last time that was set, or the zero time.
func (f Folder) Until() (time.Time, error) {
	content, err := os.ReadFile(f.until())
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, strings.TrimSpace(string(content)))
}

var segmentName = regexp.MustCompile(`^[0-9A-F]{24}(\.partial|\.[0-9A-F]{8}\.backup)?$`)

// isSegment reports whether a file of the log is a segment, a part of one, or a note about it.
// Its name is that of the timeline and its number, eight and sixteen digits of base 16.
func isSegment(name string) bool { return segmentName.MatchString(name) }

// segmentLength is the length of a segment's own name.
const segmentLength = 24

// number is that of a segment. Those of all timelines are counted together.
func number(segment string) string { return segment[8:24] }

// writeOnce writes a file that is never seen half written, and survives a crash of the machine.
// It returns fs.ErrExist if there is one of that name.
func writeOnce(path string, write func(io.Writer) error) error {
	return writeNew(path, write, os.Link)
}

func replace(path string, content []byte) error {
	return writeNew(path, func(w io.Writer) error { _, err := w.Write(content); return err }, os.Rename)
}

// unnamed begins the name of a file that has not got its own yet.
const unnamed = ".new-"

func writeNew(path string, write func(io.Writer) error, name func(from, to string) error) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, unnamed+"*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // which fails if it was renamed
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := name(file.Name(), path); err != nil {
		return err
	}
	return SyncFolder(folder)
}

// SyncFolder has the disk keep the names that are in a folder.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
