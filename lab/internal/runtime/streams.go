package runtime

import (
	"context"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/creack/pty"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// Exec returns the URL at which a client runs a command in a container.
func (s *Service) Exec(_ context.Context, r *runtimeapi.ExecRequest) (*runtimeapi.ExecResponse, error) {
	if _, err := s.running(r.GetContainerId()); err != nil {
		return nil, err
	}
	return s.streams.GetExec(r)
}

// Attach returns the URL at which a client meets a container's streams.
func (s *Service) Attach(_ context.Context, r *runtimeapi.AttachRequest) (*runtimeapi.AttachResponse, error) {
	if _, err := s.running(r.GetContainerId()); err != nil {
		return nil, err
	}
	return s.streams.GetAttach(r)
}

// PortForward returns the URL at which a client reaches a pod's ports.
func (s *Service) PortForward(_ context.Context, r *runtimeapi.PortForwardRequest) (*runtimeapi.PortForwardResponse, error) {
	if _, err := s.sandbox(r.GetPodSandboxId()); err != nil {
		return nil, err
	}
	return s.streams.GetPortForward(r)
}

// streams serves those URLs.
type streams struct {
	*Service
}

var _ streaming.Runtime = streams{}

// Exec runs a command with a client's streams.
func (s streams) Exec(ctx context.Context, id string, args []string, in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, err := s.running(id)
	if err != nil {
		return err
	}
	if tty {
		return s.execTerminal(ctx, c, args, in, out, resize)
	}
	return s.exec(ctx, c, args, false, func(cmd *exec.Cmd) {
		cmd.Stdout, cmd.Stderr = writer(out), writer(errOut)
		if in == nil {
			return
		}
		// Not cmd.Stdin: the command may end long before the client's input does.
		if to, err := cmd.StdinPipe(); err == nil {
			go copyInput(to, in) // ends with the client's connection
		}
	})
}

// writer keeps a nil stream a nil interface.
func writer(w io.WriteCloser) io.Writer {
	if w == nil {
		return nil
	}
	return w
}

// execTerminal runs a command on a terminal of its own.
func (s streams) execTerminal(ctx context.Context, c *container, args []string, in io.Reader, out io.Writer, resize <-chan remotecommand.TerminalSize) error {
	master, slave, err := pty.Open()
	if err != nil {
		return err
	}
	defer slave.Close()
	ctx, cancel := context.WithCancel(ctx)
	setSize := func(size remotecommand.TerminalSize) {
		_ = pty.Setsize(master, &pty.Winsize{Cols: size.Width, Rows: size.Height})
	}
	// Before the command starts: a program that reads the size only once, as stty
	// does, would find none.
	if size, ok := firstSize(ctx, resize); ok {
		setSize(size)
	}
	var copying sync.WaitGroup
	copying.Go(func() {
		if out != nil {
			_, _ = io.Copy(out, master) // ends in an error when the last program has left
		}
	})
	copying.Go(func() { follow(ctx, resize, setSize) })
	if in != nil {
		go func() { _, _ = io.Copy(master, in) }() // ends with the client's connection
	}
	err = s.exec(ctx, c, args, true, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	})
	cancel()
	_ = slave.Close()
	copying.Wait()
	_ = master.Close()
	return err
}

// firstSizeTimeout bounds the wait for the first size of a client's terminal.
const firstSizeTimeout = 2 * time.Second

// firstSize returns the size that a client sends as soon as it is connected. One
// that has no terminal of its own may never send any.
func firstSize(ctx context.Context, sizes <-chan remotecommand.TerminalSize) (size remotecommand.TerminalSize, ok bool) {
	select {
	case size, ok = <-sizes:
	case <-time.After(firstSizeTimeout):
	case <-ctx.Done():
	}
	return size, ok
}

// follow calls set for each size until the client is gone.
func follow(ctx context.Context, sizes <-chan remotecommand.TerminalSize, set func(remotecommand.TerminalSize)) {
	for {
		select {
		case <-ctx.Done():
			return
		case size, ok := <-sizes:
			if !ok {
				return
			}
			set(size)
		}
	}
}
