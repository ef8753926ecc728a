// Package memory says how much memory a process uses.
package memory

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// Of returns the resident set size of a process in bytes. macOS does not tell
// the proportional one, so the binary's pages are counted in every process.
func Of(pid int) (uint64, error) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, fmt.Errorf("asking ps for the memory of process %d: %w", pid, err)
	}
	kibibytes, err := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("asking ps for the memory of process %d: %w", pid, err)
	}
	return kibibytes << 10, nil
}
