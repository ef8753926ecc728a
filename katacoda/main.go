// Workshop keeps the workshop honest, and gives exercises to those who learn.
//
//	workshop lesson      runs the lessons as a reader would, and makes scenarios of them
//	workshop exercise    starts an exercise, and proves that all of them are honest
//	workshop check       says how the exercise in hand stands; and hint, solution, reset, list, watch
//	workshop branches    cuts the branches stage-1, stage-2 and so on
//
// Each has a package of its own; repository/ is what they share.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program whatever it is doing.
	context.AfterFunc(ctx, stop)

	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without its process. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := newCommand()
	command.SetOut(stdout)
	command.SetErr(stderr)
	command.SetArgs(args)
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(stderr, "error:", err)
		return 1
	}
	return 0
}

func newCommand() *cobra.Command {
	command := &cobra.Command{
		Use:           "workshop",
		Short:         "Run the lessons, solve the exercises, cut the branches",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	return command
}
