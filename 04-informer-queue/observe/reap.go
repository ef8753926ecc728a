package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// initProcess is the program for process number 1, the only process of a container that was not
// started by another. When a parent dies before its children, they become children of number 1,
// and stay zombies until it waits for them.
//
// To wait for whatever child has ended would also take away the children that os/exec waits for.
// So the work is left to a second process, which runs the same program, and this one does nothing
// but wait and forward signals. It returns the exit code of the second.
func initProcess(args []string) int {
	received := make(chan os.Signal, 16)
	signal.Notify(received, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	path, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: finding this program:", err)
		return 1
	}
	child, err := os.StartProcess(path, append([]string{path}, args...), &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		// A terminal sends Ctrl-C to the whole group. The child must get it from here, and only once.
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: starting this program once more:", err)
		return 1
	}
	go func() {
		for s := range received {
			_ = child.Signal(s) // it may have ended
		}
	}()
	return reapUntil(child.Pid)
}

// reapUntil waits for children, its own and orphans, until the given one has ended.
func reapUntil(pid int) (code int) {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			fmt.Fprintln(os.Stderr, "error: waiting for children:", err)
			return 1
		case ended == pid && status.Signaled():
			return 128 + int(status.Signal())
		case ended == pid:
			return status.ExitStatus()
		}
	}
}
