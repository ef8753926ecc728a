package lesson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Checker runs lessons, each in a copy of the repository with a lab of its own.
type Checker struct {
	Repository repository.Repository
	Out        io.Writer     // for the progress, and for what is wrong
	Timeout    time.Duration // of each block and each check; DefaultTimeout is generous
	Keep       bool          // the copies, with their labs stopped
}

// DefaultTimeout is how long a block or a check may take.
const DefaultTimeout = 5 * time.Minute

// NewCheck returns the command workshop lesson check.
func NewCheck() *cobra.Command {
	c := &Checker{}
	command := &cobra.Command{
		Use:   "check [STAGE...]",
		Short: "Run lessons as a reader would: each check fails before its step, and passes after it",
		Long: `Run the lessons of some stages, or of all. For each it makes a copy of the repository
with a lab of its own, and does the steps in order: the check of a step must fail, then
the step's blocks are run, then the check must pass. What is not committed yet is in
the copy, too.`,
		RunE: func(command *cobra.Command, args []string) error {
			var err error
			if c.Repository, err = repository.Find(command.Context(), "."); err != nil {
				return err
			}
			c.Out = command.OutOrStdout()
			return c.Check(command.Context(), args...)
		},
	}
	command.Flags().DurationVar(&c.Timeout, "step-timeout", DefaultTimeout, "how long a block or a check may take")
	command.Flags().BoolVar(&c.Keep, "keep", false, "keep the copy, with its lab stopped")
	return command
}

// Check runs the lessons of the stages with these numbers, all of them without any. It
// goes on after one that fails.
func (c *Checker) Check(ctx context.Context, numbers ...string) error {
	stages, err := c.stages(numbers)
	if err != nil {
		return err
	}
	var summary []string
	failed := 0
	for _, stage := range stages {
		begin := time.Now()
		err := c.stage(ctx, stage)
		if ctx.Err() != nil {
			return errors.Join(errors.New("interrupted"), ended(err))
		}
		took := time.Since(begin).Round(time.Second)
		if err != nil {
			failed++
			c.tell(err)
			summary = append(summary, fmt.Sprintf("stage %d: failed after %s: %s", stage.Number, took, firstLine(err)))
		} else {
			summary = append(summary, fmt.Sprintf("stage %d: passed in %s", stage.Number, took))
		}
	}
	for _, line := range summary {
		fmt.Fprintln(c.Out, line)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d lessons failed; the reasons are above", failed, len(stages))
	}
	return nil
}

func (c *Checker) stages(numbers []string) ([]repository.Stage, error) {
	if len(numbers) == 0 {
		return c.Repository.Stages()
	}
	var stages []repository.Stage
	for _, number := range numbers {
		stage, err := c.Repository.Stage(number)
		if err != nil {
			return nil, err
		}
		stages = append(stages, stage)
	}
	return stages, nil
}

// stage runs one lesson in a new place, and leaves nothing behind.
func (c *Checker) stage(ctx context.Context, stage repository.Stage) (err error) {
	l, err := Read(c.Repository, stage)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "stage %d: copying the repository\n", stage.Number)
	p, err := newPlace(ctx, c.Repository, stage, c.Timeout)
	if err != nil {
		return err
	}
	defer func() {
		wrong := p.end(ctx, c.Keep)
		if wrong != nil {
			err = errors.Join(err, &leftover{wrong})
		} else if c.Keep {
			fmt.Fprintf(c.Out, "stage %d: the copy is kept in %s; its lab is stopped\n", stage.Number, p.copied.Root)
		}
	}()
	r := &run{lesson: l, shell: p.shell, out: c.Out}
	if err := r.syntax(ctx); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "stage %d: starting a lab\n", stage.Number)
	if err := p.start(ctx); err != nil {
		return fmt.Errorf("starting the lab of stage %d: %w", stage.Number, err)
	}
	return r.steps(ctx)
}

// A leftover is what went wrong at the end of a place. It is told of even when the
// rest was interrupted.
type leftover struct{ error }

func ended(err error) error {
	if left := new(leftover); errors.As(err, &left) {
		return left.error
	}
	return nil
}

// tell prints a failure with all that belongs to it.
func (c *Checker) tell(err error) {
	if f := new(failure); errors.As(err, &f) {
		fmt.Fprint(c.Out, f.details())
		if left := ended(err); left != nil {
			fmt.Fprintln(c.Out, left)
		}
		return
	}
	fmt.Fprintln(c.Out, err)
}

func firstLine(err error) string {
	for i, r := range err.Error() {
		if r == '\n' {
			return err.Error()[:i]
		}
	}
	return err.Error()
}
