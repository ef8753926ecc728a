package lesson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/hacking-a-controller/tools/workshop/isolate"
	"example.com/hacking-a-controller/tools/workshop/process"
)

// A shell runs commands as a reader would, one after the other in the same folder. Each
// has a process group of its own, so that what it has started can be ended with it.
type shell struct {
	dir     string
	env     []string
	timeout time.Duration // of each command
	network *isolate.Network
	seen    io.Writer // gets what commands print, as it comes; without it, nothing does
	groups  []int     // of the commands that have left something running
	session *session
}

// A result is what became of a command.
type result struct {
	code    int    // the exit code; -1 if a signal ended it
	output  string // stdout and stderr, as a terminal would show them
	expired bool   // it was killed because its time was over
	doing   string // what it was running then
}

// run runs a command and waits until it ends; not for what it has left in the
// background, which may still be needed. Only a command that cannot be started, and
// ctx, make an error.
func (s *shell) run(ctx context.Context, name string, args ...string) (result, error) {
	return s.feed(ctx, nil, name, args...)
}

// feed is run for a command that reads something.
func (s *shell) feed(ctx context.Context, input io.Reader, name string, args ...string) (result, error) {
	// Not a pipe: that would be open for as long as anything in the background has it.
	output, err := os.CreateTemp("", "output-*")
	if err != nil {
		return result{}, fmt.Errorf("making a file for the output: %w", err)
	}
	defer os.Remove(output.Name())
	defer output.Close()

	deadline, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	command := process.Command(deadline, name, args...)
	s.network.Enter(command)
	command.Dir, command.Env = s.dir, s.env
	command.Stdin, command.Stdout, command.Stderr = input, output, output
	var doing string
	kill := command.Cancel
	command.Cancel = func() error {
		doing = running(command.Process.Pid)
		return kill()
	}
	if err := command.Start(); err != nil {
		return result{}, fmt.Errorf("starting %s: %w", name, err)
	}
	end := stream(output, s.seen)
	err = command.Wait()
	end()
	if alive(command.Process.Pid) {
		s.groups = append(s.groups, command.Process.Pid)
	}
	if ctx.Err() != nil {
		return result{}, context.Cause(ctx)
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) && deadline.Err() == nil {
		return result{}, fmt.Errorf("waiting for %s: %w", name, err)
	}
	text, err := lastOf(output)
	return result{code: command.ProcessState.ExitCode(), output: text, expired: deadline.Err() != nil, doing: doing}, err
}

// stream copies what is written into a file, as it comes. To end it is to copy the rest.
func stream(file *os.File, to io.Writer) (end func()) {
	if to == nil {
		return func() {}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		reader := io.NewSectionReader(file, 0, math.MaxInt64)
		for last := false; ; {
			_, _ = io.Copy(to, reader) // the result has it, too
			if last {
				return
			}
			select {
			case <-stop:
				last = true
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// lab runs a lab's program.
func (s *shell) lab(ctx context.Context, program, verb string) error {
	done, err := s.run(ctx, program, verb)
	switch {
	case err != nil:
		return fmt.Errorf("lab %s: %w", verb, err)
	case done.expired:
		return fmt.Errorf("lab %s did not end within %s; it printed:\n%s", verb, s.timeout, indent(lastLines(done.output)))
	case done.code != 0:
		return fmt.Errorf("lab %s ended with exit code %d; it printed:\n%s", verb, done.code, indent(lastLines(done.output)))
	}
	return nil
}

// end kills all that the commands have left running.
func (s *shell) end() {
	s.close()
	for _, group := range s.groups {
		_ = syscall.Kill(-group, syscall.SIGKILL) // it may have ended by itself
	}
	s.groups = nil
}

// running returns the commands in a process group, without the shells whose children they are.
func running(group int) string {
	table, _ := exec.Command("ps", "-A", "-o", "pgid=", "-o", "args=").Output() // without ps, it is not said
	var found []string
	for line := range strings.Lines(string(table)) {
		id, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		args = strings.TrimSpace(args)
		if id == strconv.Itoa(group) && args != "bash" && !strings.Contains(args, "<defunct>") {
			found = append(found, args[:min(mostOfCommand, len(args))])
		}
	}
	return strings.Join(found[:min(mostCommands, len(found))], "; ")
}

// How much is told of what was running: a linker alone has hundreds of arguments.
const (
	mostOfCommand = 100
	mostCommands  = 4
)

// alive says whether a process group has a process.
func alive(group int) bool {
	return syscall.Kill(-group, 0) == nil
}

// What a loop without an end has printed need not fit into memory.
const mostOutput = 1 << 20

// lastOf returns what a file holds, or its last mostOutput bytes.
func lastOf(file *os.File) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("reading the output: %w", err)
	}
	from := max(0, info.Size()-mostOutput)
	text, err := io.ReadAll(io.NewSectionReader(file, from, mostOutput))
	if err != nil {
		return "", fmt.Errorf("reading the output: %w", err)
	}
	return string(text), nil
}
