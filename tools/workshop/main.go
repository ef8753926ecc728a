// Workshop keeps the workshop honest, and gives exercises to those who learn.
//
//	workshop lesson      runs the lessons as a reader would, and makes scenarios of them
//	workshop exercise    starts an exercise, and proves that all of them are honest
//	workshop learn       leads through the exercises, with a check at each save
//	workshop check       checks the current exercise; and hint, solution, reset, list, watch, step, report
//	workshop branches    cuts the branches stage-1, stage-2 and so on
//	workshop prove       does all that CI does to know that nothing has gone stale
//
// Each has a package of its own; repository/ is what they share.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/branch"
	"example.com/hacking-a-controller/tools/workshop/exercise/practice"
	"example.com/hacking-a-controller/tools/workshop/exercise/proof"
	"example.com/hacking-a-controller/tools/workshop/exercise/standby"
	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/scenario"
)

func main() {
	if standby.IsStandIn(os.Args[0]) {
		os.Exit(standby.StandIn(os.Args))
	}
	args := os.Args[1:]
	if len(args) == 0 && practice.InTerminal() {
		args = []string{"learn"}
	}
	os.Exit(run(practice.NotifyContext(), args, os.Stdout, os.Stderr))
}

// run is the program without its process. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command := newCommand()
	command.SetOut(stdout)
	command.SetErr(stderr)
	command.SetArgs(args)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	// What a check or a proof found was printed already, but it does not end with 0.
	if !errors.Is(err, practice.ErrNotYet) && !errors.Is(err, errNotProved) {
		fmt.Fprintln(stderr, "error:", err)
	}
	return 1
}

func newCommand() *cobra.Command {
	command := &cobra.Command{
		Use:           "workshop",
		Short:         "Run the lessons, solve the exercises, cut the branches",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	command.AddCommand(newLesson())
	command.AddCommand(newExercise())
	command.AddCommand(practice.NewCommands()...)
	command.AddCommand(newBranches())
	command.AddCommand(newProve())
	command.AddCommand(newOnce())
	return command
}

func newLesson() *cobra.Command {
	command := &cobra.Command{
		Use:   "lesson",
		Short: "Run the lessons, and make scenarios of them",
	}
	command.AddCommand(lesson.NewCheck(), scenario.NewBuild())
	return command
}

func newExercise() *cobra.Command {
	command := &cobra.Command{
		Use:   "exercise",
		Short: "Start an exercise, and prove that all of them are honest",
	}
	command.AddCommand(practice.NewStart(), practice.NewBench(), proof.NewCommand())
	return command
}

func newBranches() *cobra.Command {
	return branch.NewCommand(branch.Cutter{Generate: func(ctx context.Context, r repository.Repository) error {
		return scenario.Build(ctx, r, io.Discard)
	}})
}
