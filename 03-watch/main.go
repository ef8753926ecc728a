// Watch listens to a cluster, in four ways, one after the other:
//
//	watch naive     the loop that most people write first, with all its faults
//	watch pods      the same without the faults
//	watch raw       the same without client-go
//	watch runtime   a first program that acts on what it hears, and what it costs
//
// Each has its file. The second to fourth share a loop:
//
//	state.go     what to remember, and what is news: pure, without a server
//	follow.go    the loop: list, watch, and go on when a watch ends
//	backoff.go   how long to pause in between
//	source.go    the two requests, for pods and for any type
//
// Nothing here keeps a cache or a queue. Stage 4 does.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the requests. It also gives signals their usual
	// meaning back, so a second Ctrl-C ends the program whatever it is doing.
	context.AfterFunc(ctx, stop)

	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without its process, so that a test can call it. It
// returns the exit code: 0 also when the context has ended, because nothing but
// Ctrl-C ends a watch.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := newCommand(stdout, stderr)
	command.SetArgs(args)
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}
