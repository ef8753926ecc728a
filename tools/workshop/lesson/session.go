package lesson

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/process"
)

// A session is the shell in which a reader does a step. What a block has set, defined or started is
// there for the next.
type session struct {
	command *exec.Cmd
	blocks  io.WriteCloser // what to run
	codes   *bufio.Reader  // the exit code of each
	folder  string         // for the blocks and their output
}

// open starts the session, unless there is one.
func (s *shell) open(ctx context.Context) (err error) {
	if s.session != nil {
		return nil
	}
	folder, err := os.MkdirTemp("", "blocks-*")
	if err != nil {
		return fmt.Errorf("making a folder for the blocks: %w", err)
	}
	codes, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe for exit codes: %w", err)
	}
	defer writer.Close()
	command := process.Command(ctx, "bash")
	s.network.Enter(command)
	command.Dir, command.Env, command.ExtraFiles = s.dir, s.env, []*os.File{writer}
	blocks, err := command.StdinPipe()
	if err != nil {
		return fmt.Errorf("making a pipe for blocks: %w", err)
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting bash: %w", err)
	}
	s.session = &session{command, blocks, bufio.NewReader(codes), folder}
	return nil
}

// block runs a block of a step, in the session of the step.
func (s *shell) block(ctx context.Context, limit time.Duration, code string) (result, error) {
	if err := s.open(ctx); err != nil {
		return result{}, err
	}
	script, name := filepath.Join(s.session.folder, "block.sh"), filepath.Join(s.session.folder, "output")
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		return result{}, fmt.Errorf("writing the block: %w", err)
	}
	_ = os.Remove(name) // what the last block has left running still writes to its own
	output, err := os.Create(name)
	if err != nil {
		return result{}, fmt.Errorf("making a file for the output: %w", err)
	}
	defer output.Close()
	defer stream(output, s.seen)()

	deadline, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	doing, command := make(chan string, 1), s.session.command
	defer context.AfterFunc(deadline, func() {
		doing <- running(command.Process.Pid)
		_ = command.Cancel()
	})()
	// No process that the block starts has the pipe of the codes, so its end is that of the shell.
	fmt.Fprintf(s.session.blocks, ". '%s' > '%s' 2>&1 < /dev/null 3>&-; echo $? >&3\n", script, name)
	word, err := s.session.codes.ReadString('\n')
	done := result{}
	done.code, _ = strconv.Atoi(strings.TrimSpace(word))
	if err != nil { // the block has ended the shell, or was killed
		done.code = s.close()
	}
	if ctx.Err() != nil {
		return result{}, context.Cause(ctx)
	}
	if done.expired = err != nil && deadline.Err() != nil; done.expired {
		done.doing = <-doing
	}
	text, err := lastOf(output)
	done.output = strings.ReplaceAll(text, script+": line ", "bash: line ") // as in the shell of a reader
	return done, err
}

// close ends the session, but not what it has left running. It returns the exit code.
func (s *shell) close() int {
	if s.session == nil {
		return 0
	}
	_ = s.session.blocks.Close()
	_ = s.session.command.Wait()
	_ = os.RemoveAll(s.session.folder)
	group, code := s.session.command.Process.Pid, s.session.command.ProcessState.ExitCode()
	s.session = nil
	if alive(group) {
		s.groups = append(s.groups, group)
	}
	return code
}
