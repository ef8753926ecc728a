// Package memory says how much memory a process uses.
package memory

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// Of returns the proportional set size of a process in bytes: the memory that
// it has for itself, plus its share of what it shares with other processes. The
// sizes of several processes can be added up.
func Of(pid int) (uint64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "Pss:"); ok {
			var kibibytes uint64
			if _, err := fmt.Sscanf(value, "%d kB", &kibibytes); err != nil {
				return 0, fmt.Errorf("reading the memory of process %d: %w", pid, err)
			}
			return kibibytes << 10, nil
		}
	}
	return 0, fmt.Errorf("reading the memory of process %d: the kernel gives no proportional set size", pid)
}
