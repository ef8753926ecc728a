// Command bench measures the lab and prints its figures as tables. It exits
// with 1 when a figure is missed.
//
//	go run ./bench [-runs 5] [-idle 1m] [-pods 100]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"example.com/hacking-a-controller/lab/internal/labtest"
)

// What the lab promises.
const (
	maxStartRatio = 1.5       // lab up to usable, against a bare control plane to /readyz; with static pods, against lab up
	maxIdleMemory = 500 << 20 // bytes, proportional set size of all processes
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// withLab calls measure with a lab that runs, and removes the lab.
func withLab(ctx context.Context, measure func(lab *labtest.Lab) error) error {
	lab, err := labtest.New()
	if err != nil {
		return err
	}
	if _, err = lab.Command(ctx, "up"); err == nil {
		err = measure(lab)
	}
	return errors.Join(err, lab.Remove())
}

func run(ctx context.Context) error {
	runs := flag.Int("runs", 5, "how often each kind of start is measured, in turn")
	idle := flag.Duration("idle", time.Minute, "how long after the start memory is measured")
	pods := flag.Int("pods", 100, "how many pods are run at once")
	flag.Parse()

	var missed []error
	for _, measure := range []func(context.Context) error{
		func(ctx context.Context) error { return measureStart(ctx, *runs) },
		func(ctx context.Context) error { return measureMemory(ctx, *idle) },
		func(ctx context.Context) error { return measurePods(ctx, *pods) },
	} {
		if err := measure(ctx); err != nil {
			missed = append(missed, err)
		}
		fmt.Println()
	}
	return errors.Join(missed...)
}
