package kubelet

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// totalMemory returns the machine's memory in bytes.
func totalMemory() (uint64, error) {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, fmt.Errorf("asking for the size of memory: %w", err)
	}
	return size, nil
}
