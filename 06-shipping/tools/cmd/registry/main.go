// Command registry is a container registry on this machine, for the lessons:
//
//	registry --address=127.0.0.1:5050
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/hacking-a-controller/06-shipping/tools/registry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(registry.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
