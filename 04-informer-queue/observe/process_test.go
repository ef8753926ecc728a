package main

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/testcluster"
)

// process is a program of this package that runs as a process of its own.
type process struct {
	*exec.Cmd
	printed
	wait func() error
}

// startProcess starts one.
func startProcess(t *testing.T, program string, args ...string) *process {
	t.Helper()
	return startCommand(t, []string{asProgram + "=" + program}, os.Args[0], args...)
}

// startCommand starts one with some more variables. The test should see the end of
// it. Should it hang, or the test fail, it gets a signal, and then is killed.
func startCommand(t *testing.T, environment []string, path string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.TestTimeout)
	p := &process{Cmd: exec.CommandContext(ctx, path, args...)}
	p.Env = append(os.Environ(), environment...)
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does with what it starts
	p.Cancel = func() error { return p.Process.Signal(syscall.SIGTERM) }
	p.WaitDelay = testcluster.TestTimeout
	p.wait = sync.OnceValue(p.Wait)
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		cancel()
		_ = p.wait()
	})
	return p
}
