// Package cli holds the lab's commands, one per file.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/hacking-a-controller/lab/internal/layout"
	"example.com/hacking-a-controller/lab/internal/supervisor"
	"example.com/hacking-a-controller/lab/internal/verbs"
)

// app is what every command needs.
type app struct {
	dir string // --dir
	out io.Writer
}

// layout finds the lab's folder.
func (a *app) layout() (layout.Layout, error) {
	return layout.New(a.dir)
}

// existing finds the lab's folder and fails if there is no lab in it.
func (a *app) existing() (layout.Layout, error) {
	l, err := a.layout()
	if err != nil {
		return l, err
	}
	exists, err := l.Exists()
	if err == nil && !exists {
		err = fmt.Errorf("there is no lab in %s (to start one: lab up)", l.Root())
	}
	return l, err
}

// running finds the lab's folder and fails unless the lab is started.
func (a *app) running() (layout.Layout, error) {
	l, err := a.existing()
	if err != nil {
		return l, err
	}
	pid, err := supervisor.PID(l)
	if err == nil && pid == 0 {
		err = fmt.Errorf("the lab in %s is not running (to start it: lab up)", l.Root())
	}
	return l, err
}

// exitCode is returned as an error by commands that have said all there is to
// say, and only want to end with this code.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Run runs the command line and returns the exit code.
func Run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Libraries of Kubernetes add flags to this set, and cobra shows them to the
	// user as ours.
	pflag.CommandLine = pflag.NewFlagSet("lab", pflag.ContinueOnError)
	root := newRoot(os.Stdout)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	default:
		fmt.Fprintln(os.Stderr, "lab:", err)
	}
	return 1
}

func newRoot(out io.Writer) *cobra.Command {
	a := &app{out: out}
	root := &cobra.Command{
		Use:   "lab",
		Short: "Kubernetes on this machine, as plain processes",
		Long: `lab runs a Kubernetes cluster of one node on this machine: etcd, the API
server, the controller manager, the scheduler and a kubelet, all upstream code.
It needs neither root nor Docker, and listens on 127.0.0.1 only.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		// Flags before the command's name are ours, those after "kubectl" are not.
		TraverseChildren: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("there is no command %q (to list them: lab --help)", args[0])
			}
			return cmd.Help()
		},
	}
	root.SetOut(out)
	root.PersistentFlags().StringVar(&a.dir, "dir", "", "folder of the lab (default $"+layout.EnvDir+", else .lab beside the folder this program was built in)")
	root.CompletionOptions.HiddenDefaultCmd = true
	// What the lab makes for containers, any user of theirs may have to read, as on other nodes;
	// what is secret has a mode of its own. A command of the user's keeps the user's umask.
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if name := cmd.Name(); name != "await" && name != "kubectl" && name != "run" {
			syscall.Umask(0o022)
		}
	}
	root.AddCommand(
		newUp(a), newDown(a), newReset(a), newStatus(a), newLogs(a),
		newEnv(a), newAwait(a), newLoad(a), newReport(a), newCrictl(a), newKubectl(a), newSupervise(a),
	)
	root.AddCommand(verbs.Commands(a.place)...)
	return root
}

// oneArgument accepts exactly one argument, and says what it should be.
func oneArgument(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("name %s", what)
		}
		return nil
	}
}
