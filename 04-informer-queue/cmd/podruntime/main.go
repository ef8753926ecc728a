// Podruntime tells how long the pods of each namespace have been running.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/hacking-a-controller/04-informer-queue/podruntime"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in good order. It also gives signals their
	// usual meaning back, so a second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)

	os.Exit(podruntime.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
