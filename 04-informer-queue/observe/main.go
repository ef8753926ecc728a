// Observe makes a controller of a script: it runs a command once for every object of a type, and
// again whenever one of them changes. It is first/ of this stage for any type and any job:
//
//	main.go        from a kubeconfig to the controller
//	flags.go       the command line, checked before anything runs
//	target.go      RESOURCE, found among the types of the API server
//	source.go      list and watch it
//	controller.go  the informer, its handlers, the queue and its worker
//	events.go      which events of an object are pending
//	reconcile.go   run a command for the pending event of an object
//	fullsync.go    when every object has been reconciled once
//	names.go       objects that were deleted while observe was down
//	argument.go    templates that become arguments
//	child.go       a process that can be waited for, and killed
//	metrics.go     what is counted, and where Prometheus reads it
//	signals.go     Ctrl-C: let the child end, then kill it
//	reap.go        what process number 1 owes to orphans
//
// One worker takes the keys from the queue, so one child runs at a time.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	if os.Getpid() == 1 {
		os.Exit(initProcess(os.Args[1:]))
	}
	os.Exit(run(signals, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without its process. It prints the error, and returns the exit code.
func run(signals func() (stop, kill context.Context), args []string, stdout, stderr io.Writer) int {
	o, err := parseFlags(args, stdout)
	if err == nil {
		err = observe(signals, o, stdout, stderr)
	}
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(stderr, "error:", err)
	return 1
}

// errDone is the good end of a program that ends by itself.
var errDone = errors.New("done")

// observe works until one of the signals comes, or the program has a reason of its own to end.
func observe(signals func() (stop, kill context.Context), o *options, stdout, stderr io.Writer) error {
	target, err := o.connect()
	if err != nil {
		return err
	}
	stop, kill := signals() // until here, Ctrl-C ends the process at once
	ctx, end := context.WithCancelCause(stop)
	defer end(nil)
	if o.exitAfter > 0 {
		defer time.AfterFunc(o.exitAfter, func() { end(errDone) }).Stop()
	}
	c, err := newController(o, target, stdout, stderr, ctx, kill, end)
	if err != nil {
		return err
	}
	defer c.queue.ShutDown() // it has a goroutine since it was made
	if o.listenAddr != "" {
		stopServing, err := c.serve(o.listenAddr)
		if err != nil {
			return fmt.Errorf("--listen-addr: %w; choose another address, or turn it off with --listen-addr=''", err)
		}
		defer stopServing() // it answers until the last child has ended
	}
	err = c.run(ctx)
	if o.printMetrics {
		err = errors.Join(err, c.metrics.print(stdout))
	}
	return err
}
