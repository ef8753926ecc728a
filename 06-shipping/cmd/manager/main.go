// Command manager is the At operator and settings in one process, as it runs in
// a cluster.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/hacking-a-controller/06-shipping/manager"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := manager.Main(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
