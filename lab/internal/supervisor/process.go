package supervisor

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/lifeline"
	"example.com/hacking-a-controller/lab/internal/logfile"
	"example.com/hacking-a-controller/lab/internal/shim"
)

const (
	// waitPoll is how often a component asks whether it may start.
	waitPoll = 50 * time.Millisecond
	// stopGrace is how long a component gets between SIGTERM and SIGKILL.
	stopGrace = 5 * time.Second
	// lastTimeout bounds what a component does last: the pods have 30 seconds of it,
	// see package kubelet.
	lastTimeout = 40 * time.Second
)

// process keeps one component running.
type process struct {
	*Supervisor
	component component.Component
	output    io.WriteCloser // its log
	started   bool           // it was, at least once
	static    bool           // the kubelet runs it, and there is nothing to do here

	cancel context.CancelFunc
	done   chan struct{}
}

// start begins to keep c running, unless it is static, and returns at once.
func (s *Supervisor) start(ctx context.Context, c component.Component, static bool) *process {
	// Not a child of ctx: when ctx ends, the components stop in order, one by one.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &process{Supervisor: s, component: c, output: logfile.Rotating(s.layout.Log(c.Name)), static: static, cancel: cancel, done: make(chan struct{})}
	s.record(c.Name, func(state *ComponentState) { *state = ComponentState{Static: static} })
	go func() {
		defer close(p.done)
		if !static {
			p.keepRunning(own)
		}
	}()
	return p
}

// stop ends the component and waits until it has ended and has done what it does last.
func (p *process) stop(grace context.Context) {
	p.cancel()
	<-p.done
	if p.component.Last != nil && p.started {
		ctx, cancel := context.WithTimeout(grace, lastTimeout)
		defer cancel()
		if err := errors.Join(p.run(ctx, p.component.Last), context.Cause(ctx)); err != nil {
			p.log.Warn("component did not end well", "component", p.component.Name, "err", err)
		}
	}
	_ = p.output.Close()
	p.record(p.component.Name, func(c *ComponentState) { c.Stopped = true })
}

func (p *process) keepRunning(ctx context.Context) {
	if !p.waitForTurn(ctx) {
		return
	}
	var delay backoff
	for ctx.Err() == nil {
		began := time.Now()
		p.started = true
		err := p.run(ctx, p.component.Args)
		if ctx.Err() != nil {
			return
		}
		pause := delay.next(time.Since(began))
		p.log.Warn("component ended", "component", p.component.Name, "err", err, "restart in", pause)
		taken := takenPort(p.component.Listens)
		if taken != "" {
			p.log.Warn("component cannot run", "component", p.component.Name, "why", taken)
		}
		p.record(p.component.Name, func(c *ComponentState) { c.Taken = taken })
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// waitForTurn waits for what the component calls. Without it, the callers would
// start into refused connections and back off for seconds.
func (p *process) waitForTurn(ctx context.Context) bool {
	for p.component.WaitFor != "" && p.checker.Check(ctx, p.component.WaitFor) != nil {
		select { // a pause after each check, however long it took
		case <-ctx.Done():
			return false
		case <-time.After(waitPoll):
		}
	}
	return ctx.Err() == nil
}

// run starts the component's program and returns when it has ended.
func (p *process) run(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, shim.Self())
	cmd.Args = append([]string{p.component.Name}, args...)
	cmd.Env = append(forComponents(os.Environ()), lifeline.Env)
	cmd.Dir = p.layout.Root()
	cmd.Stdout, cmd.Stderr = p.output, p.output
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
	err := cmd.Wait()
	p.record(p.component.Name, func(c *ComponentState) { c.PID, c.LastExit = 0, cmd.ProcessState.String() })
	return err
}
