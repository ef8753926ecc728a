package member

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endWithParent has the kernel stop PostgreSQL when the agent ends in whatever way: as a
// crash would, so that it answers no client any more.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
}

// killChildren kills the children of a process, and returns when they have ended, or after a time.
// The process is stopped meanwhile, so that it starts no others, and does not take note of the end
// of these: until then the kernel gives their numbers to nobody else.
func killChildren(parent int, timeout time.Duration) {
	_ = syscall.Kill(parent, syscall.SIGSTOP) // an error means that it has ended
	for late := time.Now().Add(timeout); time.Now().Before(late); time.Sleep(time.Millisecond) {
		alive := children(parent)
		if len(alive) == 0 {
			return
		}
		for _, child := range alive {
			_ = syscall.Kill(child, syscall.SIGKILL) // as above
		}
	}
}

// children are the children of a process that have not ended.
func children(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		// PID (NAME) STATE PARENT ..., and the name may have anything in it.
		fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
