package supervisor

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/lifeline"
)

const (
	// waitPoll is how often a component asks whether it may start.
	waitPoll = 50 * time.Millisecond
	// stopGrace is how long a component gets between SIGTERM and SIGKILL.
	stopGrace = 5 * time.Second
	// maxLog is the size from which a log is set aside when its component starts.
	maxLog = 20 << 20
)

// process keeps one component running.
type process struct {
	*Supervisor
	component component.Component

	cancel context.CancelFunc
	done   chan struct{}
}

// start begins to keep c running and returns at once.
func (s *Supervisor) start(ctx context.Context, c component.Component) *process {
	// Not a child of ctx: when ctx ends, the components stop in order, one by one.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &process{Supervisor: s, component: c, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.keepRunning(own)
	}()
	return p
}

// stop ends the component and waits until it has ended.
func (p *process) stop() {
	p.cancel()
	<-p.done
}

func (p *process) keepRunning(ctx context.Context) {
	if !p.waitForTurn(ctx) {
		return
	}
	var delay backoff
	for ctx.Err() == nil {
		began := time.Now()
		err := p.runOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		wait := delay.next(time.Since(began))
		p.log.Warn("component ended", "component", p.component.Name, "err", err, "restart in", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// waitForTurn waits for what the component calls. Without it, the callers would
// start into refused connections and back off for seconds.
func (p *process) waitForTurn(ctx context.Context) bool {
	for p.component.WaitFor != "" && p.checker.Check(ctx, p.component.WaitFor) != nil {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(waitPoll):
		}
	}
	return ctx.Err() == nil
}

// runOnce starts the component and returns when it has ended.
func (p *process) runOnce(ctx context.Context) error {
	log, err := openLog(p.layout.Log(p.component.Name))
	if err != nil {
		return err
	}
	defer log.Close()

	cmd := exec.CommandContext(ctx, p.exe)
	cmd.Args = append([]string{p.component.Name}, p.component.Args...)
	cmd.Env = append(os.Environ(), lifeline.Env)
	cmd.Dir = p.layout.Root()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{p.pipe, p.alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace

	if err := cmd.Start(); err != nil {
		p.record(p.component.Name, func(c *ComponentState) { c.LastExit = err.Error() })
		return err
	}
	p.record(p.component.Name, func(c *ComponentState) {
		if !c.Started.IsZero() {
			c.Restarts++
		}
		c.PID, c.Started = cmd.Process.Pid, time.Now()
	})
	err = cmd.Wait()
	p.record(p.component.Name, func(c *ComponentState) { c.PID, c.LastExit = 0, cmd.ProcessState.String() })
	return err
}

// openLog opens a log for appending; one that has grown large is kept as .old.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
