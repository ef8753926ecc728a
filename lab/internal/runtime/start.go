package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/creack/pty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"example.com/hacking-a-controller/lab/internal/shim"
)

// StartContainer starts a shim, which starts the container. An error is the one
// that the shim met, and the container has then exited.
func (s *Service) StartContainer(_ context.Context, id string) error {
	c, err := s.container(id)
	if err != nil {
		return err
	}
	if !c.claimStart() {
		return status.Errorf(codes.FailedPrecondition, "container %q was started before", id)
	}
	defer close(c.begun)
	return s.startShim(c)
}

// claimStart returns true to the first caller only.
func (c *container) claimStart() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.starting || c.started != nil || c.exit != nil {
		return false
	}
	c.starting = true
	return true
}

func (s *Service) startShim(c *container) error {
	log, err := os.OpenFile(filepath.Join(c.dir, "shim.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return c.failStart(err)
	}
	defer log.Close()
	var terminal []*os.File
	if c.config.Tty {
		master, slave, err := pty.Open()
		if err != nil {
			return c.failStart(fmt.Errorf("opening a terminal: %w", err))
		}
		defer master.Close() // both are the shim's from now on
		defer slave.Close()
		terminal = []*os.File{master, slave}
	}
	// The shim outlives the request and this process.
	cmd := c.record.Isolation.command(context.Background(), shim.Name, c.record.User, c.dir)
	cmd.Stdout, cmd.Stderr = log, log
	report, err := s.start(cmd, s.options.Lifeline, terminal...)
	if err != nil {
		return c.failStart(err)
	}
	if report != nil {
		_ = cmd.Wait()
		return c.failStart(report)
	}
	started, err := shim.ReadFile[shim.Started](c.dir, shim.StartedFile)
	if err != nil {
		started = &shim.Started{At: time.Now()}
	}
	c.mu.Lock()
	c.started = started
	c.mu.Unlock()
	s.watch(c, cmd)
	return nil
}

// failStart records that the container never ran.
func (c *container) failStart(err error) error {
	e := &shim.Exit{Code: 128, At: time.Now(), Reason: "StartError", Message: err.Error()}
	err = errors.Join(err, shim.WriteFile(c.dir, shim.ExitFile, e))
	c.setExit(e)
	return err
}
