package process

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// Mark gives a command, whose environment is set already, a variable of its own, and
// returns what kills all that inherited it. It finds what the end of the group leaves
// alive: envtest gives the API server a group of its own, and a test that panics does
// not stop it. Without /proc (macOS) it finds nothing.
func Mark(command *exec.Cmd) (killMarked func()) {
	mark := "WORKSHOP_RUN=" + rand.Text()
	command.Env = append(command.Env, mark)
	return func() {
		// Again, because one may have just started another.
		for range 100 {
			if !kill(mark) {
				return
			}
		}
	}
}

// kill kills the processes with a variable in their environment, and says whether there
// were any.
func kill(variable string) bool {
	found := false
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		// That of another user cannot be read, and that of a zombie is empty.
		environment, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environment, []byte(variable)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
		}
	}
	return found
}
