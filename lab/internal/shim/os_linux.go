package shim

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Names that the syscall package does not have.
const (
	prSetChildSubreaper = 36
	prSetNoNewPrivs     = 38
	prCapAmbient        = 47
	prCapAmbientClear   = 4
)

// Namespaces names the mount and UTS namespaces of this process.
func Namespaces() string {
	mnt, _ := os.Readlink("/proc/self/ns/mnt")
	uts, _ := os.Readlink("/proc/self/ns/uts")
	return mnt + " " + uts
}

// Self is this program, to be started once more: from any root directory, as the kernel does not
// follow this link by name, and even when a newer one has replaced its file.
func Self() string { return "/proc/self/exe" }

// becomeReaper makes orphaned descendants children of this process, so that it
// finds and reaps those that left the process group.
func becomeReaper() error {
	return prctl(prSetChildSubreaper, 1)
}

// processAttr prepares this thread, from which the container inherits.
func processAttr(spec *Spec) *syscall.SysProcAttr {
	// The capabilities that an unprivileged shim kept over its own start, to be
	// able to mount.
	_ = prctl(prCapAmbient, prCapAmbientClear)
	if spec.NoNewPrivileges {
		_ = prctl(prSetNoNewPrivs, 1)
	}
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

func prctl(option, argument uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, argument, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("prctl %d: %w", option, errno)
	}
	return nil
}

// children returns the processes whose parent is this one.
func children() (pids []int) {
	self := strconv.Itoa(os.Getpid())
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// PID (COMMAND) STATE PPID ..., where COMMAND may hold anything.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == self {
			pids = append(pids, pid)
		}
	}
	return pids
}
