package supervisor

import (
	"fmt"
	"slices"

	"github.com/prometheus/procfs"
)

// holder names the program that listens at a port. Those of other users cannot be seen.
func holder(port int) string {
	const unknown, listens = "another program", 0x0a
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return unknown
	}
	four, _ := proc.NetTCP() //nolint:staticcheck // netlink says the same, with a library more
	six, _ := proc.NetTCP6() //nolint:staticcheck // netlink says the same, with a library more
	var sockets []string
	for _, line := range slices.Concat(four, six) {
		if line.St == listens && line.LocalPort == uint64(port) {
			sockets = append(sockets, fmt.Sprintf("socket:[%d]", line.Inode))
		}
	}
	all, _ := proc.AllProcs()
	for _, p := range all {
		files, _ := p.FileDescriptorTargets()
		if slices.ContainsFunc(files, func(file string) bool { return slices.Contains(sockets, file) }) {
			if name, err := p.Comm(); err == nil {
				return fmt.Sprintf("%s (pid %d)", name, p.PID)
			}
		}
	}
	return unknown
}
