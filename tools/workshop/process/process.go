// Package process starts programs that end as a whole.
package process

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Command is exec.CommandContext with a process group of its own. When ctx ends, all of
// the group is killed: with the program go those that it has started.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	return command
}

// Environment is this process's without some variables and with some others. It never
// has those by which make takes itself for the child of another one, nor CDPATH, with which
// cd 01-client-list can go to another clone.
func Environment(without []string, with ...string) []string {
	without = append([]string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CDPATH"}, without...)
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(without, name)
	})
	return append(env, with...)
}
