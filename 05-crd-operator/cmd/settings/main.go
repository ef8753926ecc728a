// Settings merges the SettingsLayers of each namespace into a ConfigMap, and
// keeps it as it should be.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/hacking-a-controller/05-crd-operator/settings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in good order. It also gives signals their
	// usual meaning back, so a second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)

	os.Exit(settings.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
