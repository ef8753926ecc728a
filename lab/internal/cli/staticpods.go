package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"example.com/hacking-a-controller/lab/internal/cluster"
	"example.com/hacking-a-controller/lab/internal/component"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/runtime"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/staticpod"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

// useStaticPods changes who runs the scheduler and the controller manager of a lab that runs. At
// no time do both: one without a lease and one with a lease would do everything twice.
func (a *app) useStaticPods(ctx context.Context, l layout.Layout, static bool) error {
	if static {
		if err := handOver(ctx, l, true); err != nil {
			return err
		}
		return a.writeManifests(l)
	}
	sentences, err := staticpod.SetAside(l)
	a.print(sentences)
	if err != nil {
		return err
	}
	if err := a.await(ctx, staticPodsRun("the kubelet has ended the static pods", l, false)); err != nil {
		return err
	}
	return handOver(ctx, l, false)
}

// prepareStaticPods does the same while the lab is stopped.
func (a *app) prepareStaticPods(l layout.Layout, static bool) error {
	if err := settings.SetStaticPods(l.Settings(), static); err != nil {
		return err
	}
	if static {
		return a.writeManifests(l)
	}
	sentences, err := staticpod.SetAside(l)
	a.print(sentences)
	return err
}

// handOver notes who is to run them, and waits until the supervisor has followed.
func handOver(ctx context.Context, l layout.Layout, static bool) error {
	pid, err := supervisor.PID(l)
	if err != nil || pid == 0 {
		return errors.Join(err, errors.New("the supervisor has ended (to start it: lab up)"))
	}
	if err := settings.SetStaticPods(l.Settings(), static); err != nil {
		return err
	}
	if err := syscall.Kill(pid, supervisor.HandOver); err != nil {
		return fmt.Errorf("asking the supervisor (pid %d) to hand over: %w", pid, err)
	}
	return cluster.Wait(ctx, cluster.Condition{Name: "the supervisor has handed over", Check: func(context.Context) error {
		state, err := supervisor.ReadState(l)
		for _, name := range staticpod.Names {
			if err == nil && state.Components[name].Static != static {
				err = fmt.Errorf("the supervisor has not handed %s over", name)
			}
		}
		return err
	}})
}

func (a *app) writeManifests(l layout.Layout) error {
	s, err := settings.Load(l.Settings())
	if err != nil {
		return err
	}
	sentences, err := staticpod.Write(l, s)
	a.print(sentences)
	return err
}

// staticPodsRun is the condition that each component has a container that runs, or that none has.
func staticPodsRun(name string, l layout.Layout, running bool) cluster.Condition {
	return cluster.Condition{Name: name, Check: func(context.Context) error { return expectStatic(l, running) }}
}

// expectStatic returns an error unless each component has a container that runs, or none has.
func expectStatic(l layout.Layout, running bool) error {
	for _, name := range staticpod.Names {
		c, err := newestContainer(l, name)
		if err != nil {
			return err
		}
		if c.Running() != running {
			return fmt.Errorf("%s: running: %v (to look closer: lab logs kubelet)", name, c.Running())
		}
	}
	return nil
}

// newestContainer returns the newest container of a static pod, or none at all.
func newestContainer(l layout.Layout, name string) (runtime.Container, error) {
	all, err := runtime.Containers(l.Runtime())
	for _, c := range all {
		if c.Namespace == staticpod.Namespace && c.Pod == name+"-"+component.NodeName && c.Name == name {
			return c, err
		}
	}
	return runtime.Container{}, err
}
