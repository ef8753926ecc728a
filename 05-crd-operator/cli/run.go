// Package cli is what a program has around its work: flags, a cluster, and errors that say what
// to do next. An operator has OperatorFlags. A program with subcommands is a command of cobra, and
// Main runs it: those are in postgres/ and in stage 6.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs a command as a process, and ends it.
func Main(command *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in good order. It also gives signals their
	// usual meaning back, so a second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)

	os.Exit(Run(ctx, command, os.Args[1:], os.Stdout, os.Stderr))
}

// Run runs a command without a process, so that a test can do it. It prints the
// error, and returns the exit code.
func Run(ctx context.Context, command *cobra.Command, args []string, stdout, stderr io.Writer) int {
	command.SilenceErrors, command.SilenceUsage = true, true
	command.CompletionOptions.DisableDefaultCmd = true
	command.SetFlagErrorFunc(UsageError)
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	if err := command.ExecuteContext(ctx); err != nil {
		// Of joined errors, each has a line.
		fmt.Fprintln(stderr, "error:", strings.ReplaceAll(err.Error(), "\n", "\nerror: "))
		return 1
	}
	return 0
}

// UsageError adds to an error of the command line where the help is.
func UsageError(command *cobra.Command, err error) error {
	return fmt.Errorf("%w; see %s --help", err, command.CommandPath())
}

// NoArgs is the Args of a command that takes only flags.
func NoArgs(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageError(command, fmt.Errorf("unexpected argument %q", args[0]))
	}
	return nil
}
