package manager

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// runAsManager makes this test program the manager. So tests run the manager as
// what it is, a process: one can be killed, and two have two sets of metrics.
const runAsManager = "RUN_AS_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(runAsManager) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := Main(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}
