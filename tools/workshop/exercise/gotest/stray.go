package gotest

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// newMark returns a variable that is set for one run, by which its processes are
// known: they inherit it, whatever becomes of their parents.
func newMark() string { return "WORKSHOP_RUN=" + rand.Text() }

// killMarked kills the processes whose environment holds the mark, until there are
// none: one may have just started another. Without /proc (macOS) it finds none.
func killMarked(mark string) {
	for range 100 {
		found := false
		environments, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environments {
			// That of another user cannot be read, and that of a zombie is empty.
			environment, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(environment, []byte(mark)) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
				found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
			}
		}
		if !found {
			return
		}
	}
}
