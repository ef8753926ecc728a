package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	filepath "path"
)

// owner says whose a directory in the view is, and so where a missing mount
// point may be made.
type owner int

const (
	ours   owner = iota // the container's own files
	volume              // a volume of the pod
	host                // must not be changed
)

// ownerOf returns whose directory path is in.
func (v *view) ownerOf(path string) owner {
	for ; ; path = filepath.Dir(path) {
		if o, ok := v.owner[path]; ok {
			return o
		}
	}
}

// ensure makes a mount point, unless there is one.
func (v *view) ensure(path string, dir bool) error {
	full := filepath.Join(v.root, path)
	if info, err := os.Stat(full); err == nil {
		if info.IsDir() != dir {
			return fmt.Errorf("%s is a file on one side and a directory on the other", path)
		}
		return nil
	}
	parent := filepath.Dir(path)
	if err := v.ensure(parent, true); err != nil {
		return err
	}
	o := v.ownerOf(parent)
	if o == host {
		if err := v.mirror(parent); err != nil {
			return fmt.Errorf("making a place for %s: %w", path, err)
		}
	}
	err := makeEmpty(full, dir)
	if err != nil && o == volume { // a read-only one
		if err := v.mirror(parent); err != nil {
			return fmt.Errorf("making a place for %s: %w", path, err)
		}
		err = makeEmpty(full, dir)
	}
	return err
}

// makeEmpty makes an empty directory or file. It may be there already.
func makeEmpty(path string, dir bool) error {
	if dir {
		if err := os.Mkdir(path, 0o755); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
