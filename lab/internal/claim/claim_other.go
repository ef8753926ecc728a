//go:build !linux

package claim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is for all users, and nothing cleans it up while a lab runs, as it does /tmp.
const folder = "/var/tmp/hacking-a-controller-claims"

// open returns nil when another process has the claim. It is the lock on a file that is for
// everybody to open, and holds nothing.
func open(name string) (*os.File, error) {
	if err := os.Mkdir(folder, 0o700); err == nil {
		if err := os.Chmod(folder, 0o1777); err != nil {
			return nil, fmt.Errorf("claiming %s: %w", name, err)
		}
	}
	path := filepath.Join(folder, strings.NewReplacer(" ", "-", "/", "-").Replace(name))
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, fmt.Errorf("claiming %s: %w", name, err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, fmt.Errorf("claiming %s: %w", name, err)
	}
	return file, nil
}
