package testenv

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Process is a process that ran when [ProcessOf] was called.
type Process struct {
	PID int
	// began is when it was started, as the kernel writes it. Another process may get
	// the same id later. It is empty where there is no /proc.
	began string
}

// ProcessOf returns the process that has an id now.
func ProcessOf(pid int) Process {
	_, began := stat(pid)
	return Process{PID: pid, began: began}
}

// Ended reports whether the process has ended. A zombie has: what is left of it is an exit
// code, which where nothing reaps orphans, as in many containers, stays.
func (p Process) Ended() bool {
	if err := syscall.Kill(p.PID, 0); errors.Is(err, syscall.ESRCH) {
		return true
	}
	state, began := stat(p.PID)
	return state == "Z" || state == "X" || began != p.began
}

// stat returns a process's state and the time of its start, or nothing.
func stat(pid int) (state, began string) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", ""
	}
	// After the program's name, which may hold anything, comes the third field.
	fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
	return fields[0], fields[19]
}

// ExpectEnd waits until a process has ended.
func ExpectEnd(t *testing.T, p Process) {
	t.Helper()
	require.Eventually(t, p.Ended, Timeout(), 10*time.Millisecond, "process %d is still there", p.PID)
}
