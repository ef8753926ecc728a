// Package clientgo is the operator for Ats, written by hand: on client-go, on the clients
// and informers in generated/, and on the queue of stage 4. Package controllerruntime is
// the same operator on a framework.
//
//	main.go        the flags
//	controller.go  the caches, the queue, and reconcile
//	controller/    the queue of stage 4, with EnqueueAt
//	events.go      what was done, for kubectl describe
package clientgo

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"example.com/hacking-a-controller/05-crd-operator/cli"
	"example.com/hacking-a-controller/05-crd-operator/lifecycle"
	"example.com/hacking-a-controller/05-crd-operator/wallclock"
)

// Main is the program.
func Main() {
	var cluster cli.ConfigFlags
	o := Options{Clock: wallclock.New()}
	flags := flag.NewFlagSet(os.Args[0], flag.ExitOnError)
	cluster.AddOperatorFlags(flags)
	flags.IntVar(&o.Workers, "workers", 8, "how `many` Ats to reconcile at the same time")
	flags.StringVar(&o.Image, "command-image", lifecycle.DefaultImage, "the `image` that commands run in, with a sh")
	_ = flags.Parse(os.Args[1:]) // an error ends the program

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	config, namespace, err := cluster.Load()
	if err == nil {
		o.Namespace = namespace
		err = Run(ctx, config, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
