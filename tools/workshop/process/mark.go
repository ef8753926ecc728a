package process

import (
	"bytes"
	"crypto/rand"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A Mark is a variable by which all are found that inherited it from a command, also those that the
// end of the group leaves alive: envtest gives the API server a group of its own, and a test that
// panics does not stop it. Without /proc (macOS) it finds nothing.
type Mark string

// NewMark gives a command, whose environment is set already, a mark of its own.
func NewMark(command *exec.Cmd) Mark {
	mark := "WORKSHOP_RUN=" + rand.Text()
	command.Env = append(command.Env, mark)
	return Mark(mark)
}

// Kill kills the processes.
func (m Mark) Kill() {
	// Again, because one may have just started another.
	for range 100 {
		killed := false
		for process := range m.processes() {
			if pid, err := strconv.Atoi(filepath.Base(process)); err == nil && pid != os.Getpid() {
				killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
			}
		}
		if !killed {
			return
		}
	}
}

// Running returns the command of one of the processes, or "" if there is none.
func (m Mark) Running() string {
	for process := range m.processes() {
		command, err := os.ReadFile(filepath.Join(process, "cmdline"))
		if words := strings.TrimRight(string(command), "\x00"); err == nil && words != "" {
			return strings.ReplaceAll(words, "\x00", " ")
		}
	}
	return ""
}

// processes are the folders of the processes in /proc. The environment of another user's cannot be
// read, and that of a zombie is empty.
func (m Mark) processes() iter.Seq[string] {
	return func(yield func(string) bool) {
		environments, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range environments {
			environment, err := os.ReadFile(file)
			if err == nil && bytes.Contains(environment, []byte(m)) && !yield(filepath.Dir(file)) {
				return
			}
		}
	}
}
