package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// follow runs a command, hands every line of its stderr to read, and calls show
// after each and once a second. Both are called by the caller's goroutine.
//
// A cancelled command is interrupted, not killed, so that Go can remove its
// temporary files.
func follow(command *exec.Cmd, read func(line string), show func()) error {
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	stderr, err := command.StderrPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	lines := make(chan string)
	go scan(stderr, lines)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for open := true; open; {
		var line string
		select {
		case line, open = <-lines:
			if open {
				read(line)
			}
		case <-tick.C:
		}
		show()
	}
	if err := command.Wait(); err != nil {
		if _, failed := errors.AsType[*exec.ExitError](err); failed {
			return fmt.Errorf("go %s failed, see above", command.Args[1])
		}
		return err
	}
	return nil
}

// scan sends every line that it reads, and closes the channel at the end.
func scan(from io.Reader, lines chan<- string) {
	defer close(lines)
	scanner := bufio.NewScanner(from)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines <- scanner.Text()
	}
	// A line beyond the limit ends the scan; the command must not block on a
	// full pipe because of that.
	_, _ = io.Copy(io.Discard, from)
}
