package lesson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/isolate"
	"example.com/hacking-a-controller/tools/workshop/lines"
	"example.com/hacking-a-controller/tools/workshop/proving"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Checker runs lessons, each in a copy of the repository with a lab of its own.
type Checker struct {
	Repository repository.Repository
	Out        io.Writer     // for the progress, and for what is wrong
	Timeout    time.Duration // of each block and each check; DefaultTimeout is generous
	Keep       bool          // the copies, with their labs stopped
	Folder     string        // where the copies are made
	Jobs       int           // how many lessons are run at once; one, if they would share a network
	Verdicts   string        // the folder of what was found before; nothing is kept without one
	Cached     bool          // a lesson that has passed before, with all the same, is not run
	Program    string        // the path of this program
	// Network makes one for a lesson; without it, isolate.New.
	Network func() (*isolate.Network, error)

	inputs  *inputs
	fetcher fetcher
}

// DefaultTimeout is how long a block or a check may take. It ends what hangs. What takes long to
// compile is compiled before.
const DefaultTimeout = 10 * time.Minute

// NewCheck returns the command workshop lesson check.
func NewCheck() *cobra.Command {
	c := &Checker{}
	command := &cobra.Command{
		Use:   "check [STAGE[/PART]...]",
		Short: "Run lessons as a reader would: each check fails before its step, and passes after it",
		Long: `Run the lessons of some stages, or of all: 4 is all parts of stage 4, 4/queue one of them.
For each it makes a copy of the repository with a lab of its own, and does the steps in
order: the check of a step must fail, then the step's blocks are run, then the check must
pass. What is not committed yet is in the copy, too. On Linux each lesson has a network of its
own; where that cannot be, they are run one at a time.`,
		RunE: func(command *cobra.Command, args []string) error {
			if c.Jobs < 1 {
				return fmt.Errorf("--jobs=%d: run one lesson at once at least", c.Jobs)
			}
			var err error
			if c.Repository, err = repository.Find(command.Context(), "."); err != nil {
				return err
			}
			cache, err := os.UserCacheDir()
			if err != nil {
				return fmt.Errorf("looking for a folder for the copies: %w", err)
			}
			c.Folder = filepath.Join(cache, "hacking-a-controller", "lesson")
			c.Verdicts = filepath.Join(cache, "hacking-a-controller", "lesson-verdicts")
			if c.Program, err = os.Executable(); err != nil {
				return err
			}
			c.Out = command.OutOrStdout()
			return c.Check(command.Context(), args...)
		},
	}
	command.Flags().DurationVar(&c.Timeout, "step-timeout", DefaultTimeout, "how long a block or a check may take")
	command.Flags().BoolVar(&c.Keep, "keep", false, "keep the copy, with its lab stopped, until the next run")
	command.Flags().IntVar(&c.Jobs, "jobs", 1, "how many lessons to run at once")
	command.Flags().BoolVar(&c.Cached, "cached", false, "do not run what an earlier run has found to pass")
	return command
}

// Check runs the lessons with these names, such as 3 or 4/queue, all of them without any.
// It goes on after one that fails.
func (c *Checker) Check(ctx context.Context, names ...string) error {
	refs, err := c.refs(ctx, names)
	if err != nil {
		return err
	}
	if c.inputs, err = newInputs(ctx, c.Repository, c.Program); err != nil {
		return err
	}
	verdicts := make([]outcome, len(refs))
	out := lines.NewLocked(c.Out)
	c.separate(out)
	turns := make(chan struct{}, max(1, c.Jobs))
	order := slices.All(refs)
	if c.Jobs > 1 { // the later stages take longest, and one of them should not be left alone at the end
		order = slices.Backward(refs)
	}
	var all sync.WaitGroup
	for i, ref := range order {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			if c.Jobs > 1 {
				verdicts[i] = c.check(ctx, ref, lines.New(out, ""))
			} else {
				verdicts[i] = c.check(ctx, ref, out) // also a line that has not ended
			}
		})
	}
	all.Wait()
	return c.conclude(ctx, verdicts)
}

// separate sees whether lessons can have networks of their own, or else must be run one at a
// time: two would meet at ports.
func (c *Checker) separate(out io.Writer) {
	if c.Network == nil {
		c.Network = isolate.New
	}
	network, err := c.Network()
	if err == nil {
		network.Close()
		return
	}
	if c.Jobs > 1 {
		fmt.Fprintf(out, "lessons are run one at a time, because they share the network of this machine: %v\n", err)
	}
	c.Jobs = 1
	c.Network = func() (*isolate.Network, error) { return nil, nil }
}

// An outcome is what became of a lesson.
type outcome struct {
	sentence string
	err      error
}

func (c *Checker) check(ctx context.Context, ref Ref, out io.Writer) outcome {
	if ctx.Err() != nil {
		return outcome{err: ctx.Err()}
	}
	begin := time.Now()
	cached, err := c.prove(ctx, ref, out)
	took := time.Since(begin)
	entry := proving.Entry{Kind: "lesson", Name: ref.String(), Took: took, Result: proving.Passed}
	o := outcome{sentence: fmt.Sprintf("%s: passed in %s", ref, took.Round(time.Second))}
	switch {
	case err != nil:
		if ctx.Err() == nil {
			fmt.Fprintln(out, details(err))
		}
		entry.Result = proving.Failed
		why, _, _ := strings.Cut(err.Error(), "\n")
		o = outcome{fmt.Sprintf("%s: failed after %s: %s", ref, took.Round(time.Second), why), err}
	case cached:
		entry.Took, entry.Result = 0, proving.Cached
		o = outcome{sentence: fmt.Sprintf("%s: passed before, and nothing has changed since", ref)}
	}
	proving.Record(ctx, entry)
	return o
}

// prove runs a lesson, unless it is known to pass.
func (c *Checker) prove(ctx context.Context, ref Ref, out io.Writer) (cached bool, err error) {
	l, err := Read(ctx, c.Repository, ref)
	if err != nil {
		return false, err
	}
	before, err := c.inputs.verdict(ctx, l, c.Verdicts)
	if err != nil {
		return false, err
	}
	if c.Cached && before.Known() {
		return true, nil
	}
	if err := c.run(ctx, l, out); err != nil || c.Verdicts == "" {
		return false, err
	}
	// What was edited meanwhile may not be what was run.
	after, err := c.inputs.verdict(ctx, l, c.Verdicts)
	if err != nil || after != before {
		return false, err
	}
	return false, after.Save()
}

func (c *Checker) conclude(ctx context.Context, verdicts []outcome) error {
	var passed, failed []string
	var left []error
	for _, v := range verdicts {
		if v.err == nil {
			passed = append(passed, v.sentence)
			continue
		}
		failed = append(failed, v.sentence)
		left = append(left, ended(v.err))
	}
	if ctx.Err() != nil {
		return errors.Join(append([]error{errors.New("interrupted")}, left...)...)
	}
	// The end is what one reads first, and of a long log often all that is kept.
	for _, sentence := range slices.Concat(passed, failed) {
		fmt.Fprintln(c.Out, sentence)
	}
	fmt.Fprintf(c.Out, "lessons: %d passed, %d failed\n", len(passed), len(failed))
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d lessons failed; the reasons are above", len(failed), len(verdicts))
	}
	return nil
}

// refs returns what the names name.
func (c *Checker) refs(ctx context.Context, names []string) ([]Ref, error) {
	if len(names) == 0 {
		stages, err := c.Repository.Stages()
		if err != nil {
			return nil, err
		}
		for _, stage := range stages {
			names = append(names, strconv.Itoa(stage.Number))
		}
	}
	var refs []Ref
	for _, name := range names {
		number, part, _ := strings.Cut(name, "/")
		stage, err := c.Repository.Stage(number)
		if err != nil {
			return nil, err
		}
		ref := Ref{Stage: stage, Part: part}
		found, err := Refs(ctx, c.Repository, ref)
		switch {
		case err != nil && part == "":
			return nil, err
		case err != nil:
			found = []Ref{ref} // one lesson that fails, beside others
		}
		refs = append(refs, found...)
	}
	return refs, nil
}

// run runs one lesson in a new place, and leaves nothing behind.
func (c *Checker) run(ctx context.Context, l Lesson, out io.Writer) (err error) {
	ref := l.Ref
	c.fetcher.fetch(ctx, c.inputs, l, out)
	network, err := c.Network()
	if err != nil {
		return err
	}
	defer network.Close()
	fmt.Fprintf(out, "%s: copying the repository\n", ref)
	p, err := newPlace(ctx, c.Repository, ref.Stage, c.Folder, c.Timeout, network)
	if err != nil {
		return err
	}
	defer func() {
		wrong := p.end(ctx, c.Keep)
		if wrong != nil {
			err = errors.Join(err, &leftover{wrong})
		} else if c.Keep {
			fmt.Fprintf(out, "%s: the copy is kept in %s; its lab is stopped\n", ref, p.copied.Root)
		}
	}()
	r := &run{lesson: l, shell: p.shell, out: out}
	if err := errors.Join(r.syntax(ctx), r.begin(ctx, p.copied)); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: starting a lab\n", ref)
	if err := p.start(ctx); err != nil {
		return fmt.Errorf("starting the lab of %s: %w", ref, err)
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

// details is a failure with all that belongs to it.
func details(err error) string {
	f := new(failure)
	if !errors.As(err, &f) {
		return err.Error()
	}
	text := strings.TrimSuffix(f.details(), "\n")
	if left := ended(err); left != nil {
		text += "\n" + left.Error()
	}
	return text
}
