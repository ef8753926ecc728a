package runtime

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// killMarked kills the processes of a container that has lost its shim: those
// with its mark in their environment. Killing one may reveal another that it was
// just starting, so it is repeated until there is none.
func killMarked(id string) {
	for deadline := time.Now().Add(killPatience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		found := marked(id)
		if len(found) == 0 {
			return
		}
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func marked(id string) (pids []int) {
	mark := []byte(markerEnv + "=" + id)
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		environ, err := os.ReadFile(path) // empty for a process that has ended
		if err != nil || !bytes.Contains(environ, mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
