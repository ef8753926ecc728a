package practice

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/lesson"
)

// newPlay returns the command for those who have fallen behind in a lesson.
func newPlay() *cobra.Command {
	player := &lesson.Player{}
	to := 0
	command := &cobra.Command{
		Use:   "play LESSON --to=STEP",
		Short: "Catch up: run a lesson's blocks in your own lab, up to a step",
		Long: `Run the blocks of a lesson in your own lab, up to a step, and show each command and its output.
It asks before it runs anything in a lab that isn't empty, and runs on no other cluster. It stops
where a check doesn't pass, and with Ctrl-C.`,
		Example: "  workshop play 4/queue --to=4",
		Args:    cobra.MaximumNArgs(1),
		RunE: inClone(func(p practice, ctx context.Context, args []string) error {
			t := openTerminal(os.Stdin)
			t.byKey()
			defer t.restore()
			return p.play(ctx, player, append(args, "")[0], to, os.Stdin, t == nil)
		}),
	}
	command.Flags().IntVar(&to, "to", 0, "the last step to run")
	command.Flags().DurationVar(&player.Timeout, "step-timeout", lesson.DefaultTimeout, "how long a block or a check may take")
	return command
}

// play runs a lesson up to a step, and records the steps as done.
func (p practice) play(ctx context.Context, player *lesson.Player, name string, to int, in io.Reader, lines bool) error {
	lessons, err := p.lessons()
	if err != nil {
		return err
	}
	l, err := lessonNamed(name, lessons)
	if err != nil {
		return err
	}
	player.Repository, player.Out, player.Done = p.home, p.out, p.played
	answer := newAnswerer(keys(in, lines))
	player.Ask = func(ctx context.Context, question string) (rune, error) {
		fmt.Fprint(p.out, question)
		defer p.printf("")
		key, _ := answer(ctx)
		return key, context.Cause(ctx)
	}
	return player.Play(ctx, l, to)
}

// played records a step that was played for the learner.
func (p practice) played(l lesson.Lesson, step lesson.Step) error {
	return p.update(func(progress *Progress) {
		name := lessonName(l)
		if !slices.Contains(progress.Steps[name], step.Number) {
			progress.Played = with(progress.Played, name, step.Number)
		}
		progress.Steps = with(progress.Steps, name, step.Number)
	})
}

// with adds a step to those of a lesson.
func with(steps map[string][]int, name string, step int) map[string][]int {
	if steps == nil {
		steps = map[string][]int{}
	}
	done := append(steps[name], step)
	slices.Sort(done)
	steps[name] = slices.Compact(done)
	return steps
}
