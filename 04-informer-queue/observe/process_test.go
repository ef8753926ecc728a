package observe

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process is a program of this package that runs as a process of its own.
type process struct {
	*exec.Cmd
	stdout, stderr buffer
	wait           func() error
}

// startProcess starts one.
func startProcess(t *testing.T, program string, args ...string) *process {
	t.Helper()
	t.Setenv(asProgram, program)
	return startCommand(t, os.Args[0], args...)
}

// startCommand starts one that the test should see the end of. Should it hang,
// or the test fail, it gets a signal, and then is killed.
func startCommand(t *testing.T, path string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	p := &process{Cmd: exec.CommandContext(ctx, path, args...)}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does with what it starts
	p.Cancel = func() error { return p.Process.Signal(syscall.SIGTERM) }
	p.WaitDelay = 5 * time.Second
	p.wait = sync.OnceValue(p.Wait)
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		cancel()
		_ = p.wait()
	})
	return p
}

func (p *process) output() string { return p.stdout.String() + p.stderr.String() }
