// Package mounted finds what is mounted within a folder. Deleting such a folder would
// delete someone else's files.
package mounted

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// Below returns the mount points below dir, not dir itself.
func Below(dir string) ([]string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for what is mounted: %w", err)
	}
	mounts, err := mountinfo.GetMounts(mountinfo.PrefixFilter(strings.TrimSuffix(dir, "/")))
	if err != nil {
		return nil, fmt.Errorf("looking for what is mounted in %s: %w", dir, err)
	}
	var below []string
	for _, mount := range mounts {
		if mount.Mountpoint != dir {
			below = append(below, mount.Mountpoint)
		}
	}
	return below, nil
}
