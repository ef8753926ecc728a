package practice

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// NewStart returns the command that starts an exercise.
func NewStart() *cobra.Command {
	return &cobra.Command{
		Use:     "start STAGE NAME",
		Short:   "Start an exercise, in a copy of the repository",
		Example: "  workshop exercise start 4 tombstone",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("name the stage and the exercise, such as: workshop exercise start 4 tombstone; to list them: bin/workshop list")
			}
			return nil
		},
		RunE: inClone(func(p practice, ctx context.Context, args []string) error { return p.start(ctx, args[0], args[1]) }),
	}
}

// NewCommands returns the commands for the current exercise.
func NewCommands() []*cobra.Command {
	var (
		timeout = 5 * time.Minute
		all     bool
		apply   bool
	)
	check := command("check", "Run the tests of the current exercise", func(ctx context.Context, p practice, c workCopy) error {
		return p.check(ctx, c, timeout)
	})
	watch := command("watch", "Check at each save", func(ctx context.Context, p practice, c workCopy) error {
		return p.watch(ctx, c, timeout)
	})
	for _, cmd := range []*cobra.Command{check, watch} {
		cmd.Flags().DurationVar(&timeout, "timeout", timeout, "how long the tests may take")
	}
	hint := command("hint", "Show one more hint", func(ctx context.Context, p practice, c workCopy) error {
		return p.hint(ctx, c, all)
	})
	hint.Flags().BoolVar(&all, "all", false, "show the hints that you have seen, and no new one")
	solution := command("solution", "Show the solution, after the first try", func(ctx context.Context, p practice, c workCopy) error {
		return p.solution(ctx, c, apply)
	})
	solution.Flags().BoolVar(&apply, "apply", false, "apply it to the copy; your changes are kept in a patch")
	reset := command("reset", "Start the exercise again; your changes are kept in a patch", func(ctx context.Context, p practice, c workCopy) error {
		return p.reset(ctx, c)
	})
	list := overview("list", "List the exercises and your progress", practice.list)
	report := &cobra.Command{
		Use:     "report [REPORT...]",
		Short:   "Print a report in Markdown, to hand in; of the reports of a room, print one page",
		Example: "  workshop report > report.md\n  workshop report */report.md > room.md",
		RunE: inClone(func(p practice, ctx context.Context, reports []string) error {
			if len(reports) > 0 {
				return p.room(reports)
			}
			return p.report(ctx)
		}),
	}
	var way, from string
	learn := overview("learn", "Work through a track, with a check at each save", func(p practice, ctx context.Context) error {
		if err := p.take(way); err != nil {
			return err
		}
		if err := p.from(ctx, from); err != nil {
			return err
		}
		return p.learn(ctx, os.Stdin, openTerminal(os.Stdin), timeout)
	})
	learn.Flags().StringVar(&way, "track", "", "the way to go from now on, such as day; without it, the one that you have chosen before")
	learn.Flags().StringVar(&from, "from", "", "the lesson or stage to go on with, such as 5/first")
	step := &cobra.Command{
		Use:     "step [LESSON [NUMBER]]",
		Short:   "Check the next step of a lesson, and record that it is done",
		Example: "  workshop step\n  workshop step 4/cache 3",
		Args:    cobra.MaximumNArgs(2),
		RunE: inClone(func(p practice, ctx context.Context, args []string) error {
			args = append(args, "", "")
			defer p.answering()()
			return p.step(ctx, args[0], args[1])
		}),
	}
	return []*cobra.Command{learn, check, watch, hint, solution, reset, list, step, newPlay(), newTry(), newReview(), report}
}

// InTerminal reports whether somebody sits in front of this program.
func InTerminal() bool { return isTerminal(os.Stdin) && isTerminal(os.Stdout) }

// overview makes a command about all exercises.
func overview(verb, short string, run func(practice, context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use:   verb,
		Short: short,
		Args:  cobra.NoArgs,
		RunE:  inClone(func(p practice, ctx context.Context, _ []string) error { return run(p, ctx) }),
	}
}

// command makes a command for the named exercise, or the current one.
func command(verb, short string, run func(context.Context, practice, workCopy) error) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " [NAME]",
		Short: short,
		Args:  cobra.MaximumNArgs(1),
		RunE: inClone(func(p practice, ctx context.Context, args []string) error {
			c, err := p.choose(ctx, append(args, "")[0])
			if err != nil {
				return err
			}
			return run(ctx, p, c)
		}),
	}
}

// inClone makes what a command does of something to do in the learner's clone.
func inClone(do func(practice, context.Context, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := open(cmd.Context(), cmd.OutOrStdout())
		if err != nil {
			return err
		}
		return do(p, cmd.Context(), args)
	}
}
