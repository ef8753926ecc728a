package main

import (
	"context"
	"fmt"
	"time"

	"example.com/hacking-a-controller/lab/internal/labtest"
	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/memory"
	"example.com/hacking-a-controller/lab/internal/settings"
	"example.com/hacking-a-controller/lab/internal/supervisor"
)

// measureMemory starts a lab, leaves it alone, and adds up what it uses.
func measureMemory(ctx context.Context, idle time.Duration) error {
	return withLab(ctx, func(lab *labtest.Lab) error {
		fmt.Printf("Memory %s after the start, nothing running in the cluster (proportional set size)\n\n", idle)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(idle):
		}
		return printMemory(lab.Dir)
	})
}

func printMemory(dir string) error {
	l, err := layout.New(dir)
	if err != nil {
		return err
	}
	state, err := supervisor.ReadState(l)
	if err != nil {
		return err
	}
	pids := map[string]int{"supervisor": state.PID}
	for name, c := range state.Components {
		pids[name] = c.PID
	}
	fmt.Printf("| process | MiB |\n|---|---|\n")
	var total uint64
	for _, name := range []string{"supervisor", settings.Etcd, settings.APIServer, settings.ControllerManager, settings.Scheduler, settings.Kubelet} {
		size, err := memory.Of(pids[name])
		if err != nil {
			return fmt.Errorf("measuring %s: %w", name, err)
		}
		total += size
		fmt.Printf("| %s | %d |\n", name, size>>20)
	}
	fmt.Printf("| all | %d |\n\nlimit: %d MiB\n", total>>20, maxIdleMemory>>20)
	if total > maxIdleMemory {
		return fmt.Errorf("the idle lab uses %d MiB, not %d", total>>20, maxIdleMemory>>20)
	}
	return nil
}
