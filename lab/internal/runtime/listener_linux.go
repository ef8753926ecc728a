package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"slices"

	"github.com/prometheus/procfs"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// checkListener returns an error unless the listener at address is a process of the
// containers in dirs.
func checkListener(dirs []string, address netip.AddrPort) error {
	sockets, err := listening(address)
	if err != nil {
		return err
	}
	if len(sockets) == 0 {
		return errNoListener
	}
	processes, err := processesOf(dirs)
	if err != nil {
		return err
	}
	for _, p := range processes {
		files, _ := p.FileDescriptorTargets()
		for _, file := range files {
			delete(sockets, file)
		}
		// Root in a container may lack the right to see the files of a pod with another
		// user. Then that user's sockets count as the pod's.
		if _, err := p.Executable(); errors.Is(err, fs.ErrPermission) {
			if status, err := p.NewStatus(); err == nil {
				maps.DeleteFunc(sockets, func(_ string, uid uint64) bool { return uid == status.UIDs[1] })
			}
		}
	}
	if len(sockets) > 0 {
		return errForeignListener
	}
	return nil
}

// tcpListen is the state of a socket in /proc/net/tcp.
const tcpListen = 0x0a

// listening returns the sockets that the kernel gives a connection to address to, as
// they are called among a process's files, and whose they are. It prefers one that
// listens on this address to one that listens on all of IPv4, and that to one that
// listens on all.
func listening(address netip.AddrPort) (map[string]uint64, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	all, err := proc.NetTCP() //nolint:staticcheck // netlink says the same, with a library more
	if err != nil {
		return nil, err
	}
	six, err := proc.NetTCP6() //nolint:staticcheck // netlink says the same, with a library more
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	candidates := []map[string]uint64{{}, {}, {}} // the best first
	for _, line := range slices.Concat(all, six) {
		if line.St != tcpListen || line.LocalPort != uint64(address.Port()) {
			continue
		}
		name := fmt.Sprintf("socket:[%d]", line.Inode)
		switch {
		case line.LocalAddr.Equal(address.Addr().AsSlice()):
			candidates[0][name] = line.UID
		case line.LocalAddr.Equal(net.IPv4zero):
			candidates[1][name] = line.UID
		case line.LocalAddr.IsUnspecified():
			candidates[2][name] = line.UID
		}
	}
	for _, sockets := range candidates {
		if len(sockets) > 0 {
			return sockets, nil
		}
	}
	return nil, nil
}

// processesOf returns the processes of the containers in dirs: the shims, which their
// command lines tell, and all that descends from one. Nothing leaves its shim, which
// adopts orphans. The mark in the environment would not do, as some servers write
// their title over it.
func processesOf(dirs []string) (procfs.Procs, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	children := map[int]procfs.Procs{}
	var found procfs.Procs
	for _, p := range all {
		stat, err := p.Stat()
		if err != nil {
			continue // it has ended
		}
		children[stat.PPID] = append(children[stat.PPID], p)
		args, err := p.CmdLine()
		if err == nil && len(args) > 1 && (args[0] == shim.Name || args[0] == shim.ExecName) && slices.Contains(dirs, args[1]) {
			found = append(found, p)
		}
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].PID]...)
	}
	return found, nil
}
