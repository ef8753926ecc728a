package shim

import (
	"fmt"
	"os"
	filepath "path"
	"strings"
	"syscall"
)

// mirror covers the directory path with one of the container's own in which
// everything that was visible is visible again. So a volume can be mounted where
// the host has no directory, without making one there.
func (v *view) mirror(path string) error {
	full := filepath.Join(v.root, path)
	info, err := os.Stat(full)
	if err != nil {
		return err
	}
	covered, err := os.Open(full) // reaches what is there now also when it is covered
	if err != nil {
		return err
	}
	defer covered.Close()
	entries, err := covered.ReadDir(-1)
	if err != nil {
		return err
	}
	before := v.ownerOf(path)

	own := filepath.Join(v.dir, "mirror", strings.ReplaceAll(path, "/", "+"))
	if err := os.MkdirAll(own, info.Mode().Perm()|0o700); err != nil {
		return err
	}
	if err := mount(own, full, "", syscall.MS_BIND); err != nil {
		return err
	}
	v.owner[path] = ours
	for _, entry := range entries {
		source := fmt.Sprintf("/proc/self/fd/%d/%s", covered.Fd(), entry.Name())
		if err := v.show(source, filepath.Join(path, entry.Name()), entry, before); err != nil {
			return err
		}
	}
	return nil
}
