// Command release pushes the manager's image, signs it, and verifies what others have
// signed:
//
//	release keys bin/keys
//	release push ../bin/cnat-manager.tar 127.0.0.1:5050/cnat-manager
//	release sign ../bin/cnat-manager.tar 127.0.0.1:5050/cnat-manager --key=bin/keys/private.pem
//	release verify 127.0.0.1:5050/cnat-manager:v0.6.0 --key=bin/keys/cosign.pub
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/hacking-a-controller/06-shipping/tools/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(release.Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
