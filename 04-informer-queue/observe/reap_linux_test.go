package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() {
	onARealServer["orphans are reaped"] = reapsOrphans
	onARealServer["Ctrl-C reaches it once"] = reachesItOnce

	// initProcess in a process that is not number 1. On Linux any process can adopt
	// the orphans among its descendants.
	programs["init"] = func(args []string) int {
		const subreaper = 36 // PR_SET_CHILD_SUBREAPER
		if _, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, subreaper, 1, 0); err != 0 {
			panic(err)
		}
		if err := os.Setenv(asProgram, "observe"); err != nil {
			panic(err)
		}
		return initProcess(args)
	}
}

func reapsOrphans(t *testing.T, c *namespace) {
	c.create(t, "a")
	file := filepath.Join(t.TempDir(), "orphan")
	// The inner shell is an orphan when the script has ended, and ends itself.
	command := script(t, fmt.Sprintf(`(while test -e /proc/$$; do :; done; echo $PPID >%[1]s.new; mv %[1]s.new %[1]s) &`, file))
	p := startProcess(t, "init", c.args("configmaps", "--", command)...)
	eventually(t, func() bool { return content(file) != "" }, p.output)

	eventually(t, func() bool { return len(childrenOf(t, p.Process.Pid)) == 1 }, func() string {
		return fmt.Sprint("it has more than one child, zombies among them: ", childrenOf(t, p.Process.Pid))
	})

	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.wait(), "the signal is forwarded, and the exit code returned: %s", p.output())
}

// reachesItOnce presses Ctrl-C, which a terminal sends to a whole group. The
// second process must not be in that of the first, which forwards signals.
func reachesItOnce(t *testing.T, n *namespace) {
	n.create(t, "a")
	s := newSlow(t)
	p := startProcess(t, "init", n.args("configmaps", "--", s.command)...)
	s.hasBegun(t, p.output)
	for _, child := range childrenOf(t, p.Process.Pid) {
		pid, err := strconv.Atoi(child)
		require.NoError(t, err)
		group, err := syscall.Getpgid(pid)
		require.NoError(t, err)
		assert.NotEqual(t, p.Process.Pid, group)
	}
	require.NoError(t, syscall.Kill(-p.Process.Pid, syscall.SIGINT))
	require.NoError(t, os.WriteFile(s.letGo, nil, 0o600))
	require.NoError(t, p.wait(), p.output())
	assert.FileExists(t, s.ended)
}

// childrenOf are the children of all threads of a process.
func childrenOf(t *testing.T, pid int) []string {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	var children []string
	for _, list := range lists {
		children = append(children, strings.Fields(content(list))...)
	}
	return children
}

func TestInitReturnsTheExitCode(t *testing.T) {
	p := startProcess(t, "init", "--help")
	require.NoError(t, p.wait())
	assert.Contains(t, p.stdout.String(), "observe RESOURCE [flags]")

	p = startProcess(t, "init")
	require.Error(t, p.wait())
	assert.Equal(t, 1, p.ProcessState.ExitCode())
	assert.Contains(t, p.stderr.String(), "error: name the RESOURCE")
}

func TestInitReturnsADeathBySignalAsAShellDoes(t *testing.T) {
	child, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "kill -KILL $$"}, &os.ProcAttr{})
	require.NoError(t, err)
	assert.Equal(t, 137, reapUntil(child.Pid))
}
