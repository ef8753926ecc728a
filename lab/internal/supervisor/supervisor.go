// Package supervisor starts the components of the lab, restarts those that die,
// and stops them all. There is one supervisor per lab, a background process
// with a session of its own.
package supervisor

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/filelock"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/settings"
)

// Supervisor runs a set of components until its context ends.
type Supervisor struct {
	layout  layout.Layout
	checker *component.Checker
	log     *slog.Logger

	// The two files of package lifeline.
	pipe  *os.File
	alive *os.File

	mu    sync.Mutex
	state State
}

// HandOver is the signal at which a supervisor reads again, in the lab's settings, which
// components are static pods: it stops those that have become so, and starts the others.
const HandOver = syscall.SIGUSR1

// Run starts the components and keeps them running. When ctx ends it stops
// them, the last started first, and returns. What they have to do last (see
// [component.Component]) is given up, or not begun, when grace ends. What runs
// beside them in this process ends when the last started one has.
func Run(ctx, grace context.Context, l layout.Layout, log *slog.Logger, components []component.Component, beside ...func(context.Context)) error {
	handOver := make(chan os.Signal, 1)
	signal.Notify(handOver, HandOver) // before the lock: who sees it may send the signal
	defer signal.Stop(handOver)
	lock, err := lockSupervisor(l)
	if err != nil {
		return err
	}
	defer lock.Close()

	s, cut, err := prepare(ctx, l, log)
	if err != nil {
		return err
	}
	// The last thing of all: whatever still runs, containers too, ends with this.
	defer cut.Close()

	log.Info("supervisor started", "pid", os.Getpid())
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	var others sync.WaitGroup
	defer others.Wait()
	defer end()
	for _, run := range beside {
		others.Go(func() { run(own) })
	}
	processes := make([]*process, len(components))
	for i, c := range components {
		processes[i] = s.start(ctx, c, s.isStatic(c, false))
	}
	for ctx.Err() == nil {
		select {
		case <-handOver:
			s.handOver(ctx, grace, processes)
		case <-ctx.Done():
		}
	}
	log.Info("stopping", "why", context.Cause(ctx))
	s.change(func(state *State) { state.Stopping = true })
	for i, p := range slices.Backward(processes) {
		p.stop(grace)
		if i == len(processes)-1 { // the kubelet: no pod is left to be reached, and the others end faster without callers
			end()
			others.Wait()
		}
	}
	log.Info("all components have ended")
	return nil
}

// isStatic reports whether the kubelet is to run the component. Where the settings can't be read,
// it stays as it is: two schedulers at once would both place pods.
func (s *Supervisor) isStatic(c component.Component, asItIs bool) bool {
	if !c.MayBeStatic {
		return false
	}
	now, err := settings.Load(s.layout.Settings())
	if err != nil {
		s.log.Error("reading which components are static pods", "component", c.Name, "static as before", asItIs, "err", err)
		return asItIs
	}
	return now.StaticPods
}

// handOver changes who runs a component, where that has changed.
func (s *Supervisor) handOver(ctx, grace context.Context, processes []*process) {
	for i, p := range processes {
		if static := s.isStatic(p.component, p.static); static != p.static {
			s.log.Info("handing over", "component", p.component.Name, "to the kubelet", static)
			p.stop(grace)
			processes[i] = s.start(ctx, p.component, static)
		}
	}
}

// prepare takes the lock that shows that the lab is alive, which `lab up` has
// seen free (see [WaitGone]), and makes the lifeline. The second result is the end of
// the pipe that no other process may have.
func prepare(ctx context.Context, l layout.Layout, log *slog.Logger) (*Supervisor, *os.File, error) {
	alive, err := filelock.Lock(ctx, l.AliveLock())
	if err != nil {
		return nil, nil, err
	}
	pipe, cut, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	checker, err := component.NewChecker(l)
	if err != nil {
		return nil, nil, err
	}
	s := &Supervisor{
		layout: l, checker: checker, log: log, pipe: pipe, alive: alive,
		state: State{PID: os.Getpid(), Components: map[string]ComponentState{}},
	}
	return s, cut, s.state.write(l)
}

// record changes what is known of a component and writes it down.
func (s *Supervisor) record(name string, change func(*ComponentState)) {
	s.change(func(state *State) {
		c := state.Components[name]
		change(&c)
		state.Components[name] = c
	})
}

// change changes the state and writes it down.
func (s *Supervisor) change(change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
	if err := s.state.write(s.layout); err != nil {
		s.log.Error("writing the state", "err", err)
	}
}
