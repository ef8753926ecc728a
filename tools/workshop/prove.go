package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/lines"
	"example.com/hacking-a-controller/tools/workshop/proving"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/verdict"
)

// newProve returns the command that runs all proofs.
func newProve() *cobra.Command {
	var tested, dependents, fresh bool
	command := &cobra.Command{
		Use:   "prove",
		Short: "Walk all lessons, prove all branches, break and mend all exercises",
		Long: `Walk all lessons, prove all branches, break and mend all exercises: what CI runs to know
that nothing a learner is told has gone stale. It does not repeat what an earlier run has proved
with all the same, unless --fresh or FRESH=1 says so.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := repository.Find(cmd.Context(), ".")
			if err != nil {
				return err
			}
			lessons, exercises := []string{"lesson", "check", "--jobs=3"}, []string{"exercise", "prove"}
			if tested {
				exercises = append(exercises, "--tested")
			}
			if dependents {
				exercises = append(exercises, "--dependents")
			}
			if fresh || verdict.Fresh() {
				exercises = append(exercises, "--fresh")
			} else {
				lessons = append(lessons, "--cached")
			}
			// Lessons wait more than they work, so three are walked at once, and beside the rest.
			return proveAll(cmd.Context(), cmd.OutOrStdout(), r.Path("bin", "prove-times"), run,
				lane{{"lessons", lessons}},
				lane{{"branches", []string{"branches", "prove"}}, {"exercises", exercises}},
			)
		},
	}
	command.Flags().BoolVar(&tested, "tested", false, "take it as given that `make test` has just passed")
	command.Flags().BoolVar(&dependents, "dependents", false, "with each exercise test also what depends on the packages that it breaks")
	command.Flags().BoolVar(&fresh, "fresh", false, "prove also what an earlier run has proved")
	return command
}

// A task is a command of this program that proves something, and what it counts.
type task struct {
	of   string
	args []string
}

// A lane is tasks that run one after the other.
type lane []task

// proveAll runs lanes beside each other. At the end it prints what took longest, and writes to a
// file how long everything took. The last line that it prints says of each task how many have
// passed and failed.
func proveAll(ctx context.Context, out io.Writer, times string, run func(context.Context, []string, io.Writer, io.Writer) int, lanes ...lane) error {
	type result struct {
		count string
		err   error
	}
	results := make([][]result, len(lanes))
	both := lines.NewLocked(out)
	ctx, proved := proving.Begin(ctx)
	var all sync.WaitGroup
	for i, lane := range lanes {
		results[i] = make([]result, len(lane))
		all.Go(func() {
			for j, t := range lane {
				results[i][j].count, results[i][j].err = t.prove(ctx, both, run)
				if t.of == "lessons" {
					proved.LessonsDone()
				}
			}
		})
	}
	all.Wait()
	fmt.Fprint(out, proved.Slowest(mostSlow))
	if err := proved.Write(times); err != nil {
		fmt.Fprintln(out, "the times are not kept:", err) // that is no reason to fail
	}
	var counts []string
	var failed error
	for _, r := range slices.Concat(results...) {
		counts = append(counts, r.count)
		if r.err != nil {
			fmt.Fprintln(out, "error:", r.err)
			failed = errNotProved
		}
	}
	fmt.Fprintln(out, strings.Join(counts, "; "))
	return failed
}

// mostSlow is how many lessons and exercises are listed at the end.
const mostSlow = 10

// errNotProved is why the program ends with 1 after all was printed: the counts are last.
var errNotProved = errors.New("not all was proved")

// prove runs a task. Its count is the last line that the command prints, such as
// "branches: 6 passed, 0 failed".
func (t task) prove(ctx context.Context, out io.Writer, run func(context.Context, []string, io.Writer, io.Writer) int) (string, error) {
	name := strings.Join(t.args[:2], " ")
	start := time.Now()
	var said bytes.Buffer
	tee := lines.NewLocked(io.MultiWriter(out, &said))
	printed, wrong := lines.New(tee, t.args[0]+"| "), lines.New(tee, t.args[0]+"| ")
	fmt.Fprintf(printed, "workshop %s\n", name)
	code := run(ctx, t.args, printed, wrong)
	printed.Flush()
	wrong.Flush()
	count := printed.Last()
	if !strings.HasPrefix(count, t.of+": ") {
		count = t.of + ": not counted, see above"
	}
	if code != 0 {
		ending, _ := lines.Last(said.String(), mostEnding)
		return count, fmt.Errorf("workshop %s failed; it ended with\n%s", name, ending)
	}
	fmt.Fprintf(printed, "workshop %s passed in %s\n", name, time.Since(start).Round(time.Second))
	return count, nil
}

// mostEnding is how many lines of a failed task are printed again at the end, where one
// looks first. Every command tells there what is wrong.
const mostEnding = 12
