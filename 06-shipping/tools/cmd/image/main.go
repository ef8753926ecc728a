// Image builds the manager's image, without Docker.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/hacking-a-controller/06-shipping/tools/image"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(image.Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
