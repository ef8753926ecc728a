package kubelet

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// totalMemory returns the machine's memory in bytes.
func totalMemory() (uint64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("asking for the size of memory: %w", err)
	}
	return uint64(info.Totalram) * uint64(info.Unit), nil
}
