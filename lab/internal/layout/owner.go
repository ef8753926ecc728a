package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses a folder that another user has prepared, or can write into: with keys
// of their own in it, they are the lab's administrator, and its pods are you.
func checkOwner(path string, uid int) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finding out whose folder %s is: %w", path, err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != uid {
		return fmt.Errorf("%s belongs to another user (choose a folder of your own with --dir or %s)", path, EnvDir)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("other users may write into %s, its mode is %#o (chmod go-w it if you know all that is in it, or choose another folder with --dir or %s)", path, mode, EnvDir)
	}
	return nil
}
