package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// children starts the children, one at a time, and reports how they ended.
type children struct {
	stop           context.Context // when it ends, no child is started any more
	kill           context.Context // when it ends, so does the child
	stdout, stderr io.Writer
	ran            func(typ eventType, code int, took time.Duration) // called after each run
	quiet          bool
	retryExitCode  int // 0: never
	retryCount     int
}

// header prints a line that begins with # and the time.
func (c *children) header(text string) {
	if !c.quiet {
		fmt.Fprintf(c.stdout, "# %s %s\n", time.Now().Format(time.RFC3339), text)
	}
}

// errKilled is the end of a child that the user did not want to wait for.
var errKilled = errors.New("killed before it had ended")

// errRetried is the end of a child that was run again as often as the user wanted.
var errRetried = errors.New("also when run again")

// run runs a program to its end. Its output goes where that of observe goes; its stdin
// is empty. One that ends with the code of --retry-on-exit-code is run again at once.
func (c *children) run(typ eventType, p program, arguments, environment []string) error {
	return c.retry(typ, func() *exec.Cmd { return c.command(p, arguments, environment) })
}

// output runs a program to its end and returns what it printed.
func (c *children) output(typ eventType, p program) (string, error) {
	var printed bytes.Buffer
	err := c.retry(typ, func() *exec.Cmd {
		printed.Reset()
		command := c.command(p, nil, nil)
		command.Stdout = &printed
		return command
	})
	return printed.String(), err
}

func (c *children) retry(typ eventType, command func() *exec.Cmd) error {
	for tries := 0; ; tries++ {
		code, err := c.once(typ, command())
		switch {
		case err == nil || c.retryExitCode == 0 || code != c.retryExitCode || c.stop.Err() != nil:
			return err
		case tries == c.retryCount:
			return fmt.Errorf("%w, %w", err, errRetried)
		}
		c.header(fmt.Sprintf("Retry %d of %d: %v", tries+1, c.retryCount, err))
	}
}

func (c *children) command(p program, arguments, environment []string) *exec.Cmd {
	command := exec.CommandContext(c.kill, p.path)
	command.Args = slices.Concat(p.line, arguments)
	command.Env = append(os.Environ(), environment...)
	command.Stdout, command.Stderr = c.stdout, c.stderr
	// A process group of its own. So the Ctrl-C of a terminal, which goes to a whole group,
	// does not reach it; and what it has started dies with it when it must be killed.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	// A daemon that a script leaves behind may hold the pipe open forever. It is not waited for.
	command.WaitDelay = time.Second
	return command
}

// once runs the command. The code is -1 if it has none: it did not start, or
// died of a signal.
func (c *children) once(typ eventType, command *exec.Cmd) (code int, err error) {
	start := time.Now()
	err = command.Run()
	code = command.ProcessState.ExitCode()
	c.ran(typ, code, time.Since(start))
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return code, nil
	case c.kill.Err() != nil:
		return code, fmt.Errorf("%s: %w", command.Args[0], errKilled)
	case errors.Is(err, syscall.E2BIG), errors.Is(err, syscall.EINVAL):
		return code, objectError{fmt.Errorf("%w: an argument or a variable is too large, or has a NUL; leave that field out of --argument, or --object-env-var", err)}
	default:
		return code, fmt.Errorf("%s: %w", command.Args[0], err)
	}
}
