// Clientgo runs the commands of Ats when their time has come. See package
// clientgo.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/hacking-a-controller/05-crd-operator/clientgo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in good order. It also gives signals their
	// usual meaning back, so a second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)

	os.Exit(clientgo.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
