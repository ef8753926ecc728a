// Package atomicfile replaces files in one step, and durably: after a crash, a power cut
// or on a full disk, a file holds what it held before or what was written, and never a part
// of it. A file that lost its content all the same is a [BrokenError] to its reader, who
// sets it aside and goes on without it.
//
// It imports only what a shim may import (see package shim).
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	filepath "path"
	"strings"
	"syscall"
)

// unfinished is between the name of a file and a number in that of what is to take its place.
const unfinished = ".new-"

// IsUnfinished reports whether the file at path was being written to take the place of own.
func IsUnfinished(path, own string) bool {
	number, ok := strings.CutPrefix(path, own+unfinished)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// Write replaces the content of a file that only its owner can read.
func Write(path string, data []byte) error {
	if err := write(path, data); err != nil {
		return fmt.Errorf("writing %s: %w", path, explain(err))
	}
	return nil
}

func write(path string, data []byte) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, filepath.Base(path)+unfinished) // nobody else may read it
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err == nil {
		err = sync(temp)
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	return syncDir(dir)
}

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(sync(dir), dir.Close())
}

// sync waits until the disk has the file, if the file system can do that.
func sync(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// explain leaves out the name of the temporary file, and says what to do about a full disk.
func explain(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return fmt.Errorf("%w: the disk, or your share of it, is full (free some space, then try again)", err)
		}
	}
	return err
}

// BrokenError says that a file does not hold what was written to it.
type BrokenError struct {
	Path string
	Err  error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("reading %s, which is empty, cut off or overwritten: %v", e.Path, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// SetAside renames the file, so that it is out of the way and can be looked at. The
// sentence that it returns names the file and ends with what its loss means.
func (e *BrokenError) SetAside(loss string) (sentence string, err error) {
	aside := Aside(e.Path)
	err = os.Rename(e.Path, aside)
	if err == nil {
		err = syncDir(filepath.Dir(e.Path))
	}
	if err != nil {
		return "", fmt.Errorf("setting a broken file aside: %w", err)
	}
	return fmt.Sprintf("%s is empty, cut off or overwritten; it is now %s: %s", e.Path, filepath.Base(aside), loss), nil
}

// SetAsideIfBroken gets a file out of the way whose reading gave the error, so that it can
// be made again, and returns the sentence of [BrokenError.SetAside]. A file that does not
// exist needs nothing. Any other error is returned as it is.
func SetAsideIfBroken(err error, loss string) (sentences []string, _ error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	broken, ok := errors.AsType[*BrokenError](err)
	if !ok {
		return nil, err
	}
	sentence, err := broken.SetAside(loss)
	if err != nil {
		return nil, err
	}
	return []string{sentence}, nil
}

// Aside is the name of a file that was set aside.
func Aside(path string) string { return path + ".broken" }
