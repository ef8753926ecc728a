package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	remote "k8s.io/cri-client/pkg"
	utilexec "k8s.io/utils/exec"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// maxOutput is how much of a command's output ExecSync keeps, as other runtimes.
const maxOutput = 16 << 20

// ExecSync runs a command in a container, for probes and hooks. As the kubelet's
// client of a remote runtime does, it reports another exit code than 0 as an
// utilexec.CodeExitError and the end of the time as ErrCommandTimedOut.
func (s *Service) ExecSync(ctx context.Context, id string, cmd []string, timeout time.Duration) (stdout, stderr []byte, err error) {
	c, err := s.running(id)
	if err != nil {
		return nil, nil, err
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var out, errOut limited
	err = s.exec(ctx, c, cmd, false, func(command *exec.Cmd) {
		command.Stdout, command.Stderr = &out, &errOut
	})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, nil, fmt.Errorf("%w: %q timed out after %s", remote.ErrCommandTimedOut, strings.Join(cmd, " "), timeout)
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	}
	if exit := (utilexec.CodeExitError{}); errors.As(err, &exit) {
		exit.Err = fmt.Errorf("command '%s' exited with %d: %s", strings.Join(cmd, " "), exit.Code, errOut.Bytes())
		return out.Bytes(), errOut.Bytes(), exit
	}
	return out.Bytes(), errOut.Bytes(), err
}

// limited keeps the beginning of what is written to it.
type limited struct {
	bytes.Buffer
}

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), maxOutput-l.Len())])
	return len(p), nil
}

// running returns a container that a command can be run in.
func (s *Service) running(id string) (*container, error) {
	c, err := s.container(id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started == nil || c.exit != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "container %q is not running", id)
	}
	return c, nil
}

// exec runs a command in a container until it ends, the container ends, or ctx
// ends. prepare connects its standard streams. Nothing of the command is left
// when exec returns: lab-exec ends it when it loses the leash.
func (s *Service) exec(ctx context.Context, c *container, args []string, tty bool, prepare func(*exec.Cmd)) error {
	held, leash, err := os.Pipe()
	if err != nil {
		return err
	}
	defer leash.Close()
	mode := ""
	if tty {
		mode = "tty"
	}
	// Not tied to ctx: the leash ends it, and more of it than a kill would.
	cmd := c.record.Isolation.command(context.Background(), shim.ExecName, c.record.User, append([]string{c.dir, mode}, args...)...)
	cmd.WaitDelay = drainPatience
	prepare(cmd)
	report, err := s.start(cmd, held)
	_ = held.Close()
	if err != nil {
		return err
	}
	finished := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-c.done:
		case <-finished:
		}
		_ = leash.Close()
	}()
	err = cmd.Wait()
	close(finished)
	if report != nil {
		return report
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", exit.ExitCode()), Code: exit.ExitCode()}
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // another process still has the streams
	}
	return err
}

// drainPatience bounds the wait for output after a command has ended.
const drainPatience = 2 * time.Second

// copyInput feeds a command and tells it the end.
func copyInput(to io.WriteCloser, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}
