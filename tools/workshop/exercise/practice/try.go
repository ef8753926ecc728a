package practice

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// newTry returns the command for a try in the middle of a lesson.
func newTry() *cobra.Command {
	return &cobra.Command{
		Use:   "try NAME",
		Short: "Write a few lines that a lesson asks for, with a check at each save",
		Long: `Write a few lines that a lesson asks for, with a check at each save. All tries of a lesson
share one copy, and each builds on the one before. If that isn't solved, its solution is put into
the copy; your changes are kept in a patch.`,
		Example: "  workshop try end-of-watch",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name the try, as the lesson does after \"Now you\", such as: workshop try end-of-watch")
			}
			return nil
		},
		RunE: inClone(func(p practice, ctx context.Context, args []string) error {
			return p.try(ctx, args[0], os.Stdin, openTerminal(os.Stdin), 5*time.Minute)
		}),
	}
}

// try leads through one try.
func (p practice) try(ctx context.Context, name string, in io.Reader, t *terminal, timeout time.Duration) error {
	within, err := filepath.Rel(p.home.Root, p.cwd)
	if err != nil {
		within = "."
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	e, n, err := exercise.FindTry(p.home, name, filepath.ToSlash(within), progress.Current, progress.Lesson)
	if err != nil {
		return err
	}
	c, e, _, err := p.begin(ctx, strconv.Itoa(e.Stage.Number), e.Name)
	if err != nil {
		return err
	}
	if progress.of(c.ID).Passed >= n {
		p.printf("%s has passed, and its code is in %s. To begin the tries of this lesson again: %s", name, p.path(c.Root), p.command("reset "+c.ID))
		return nil
	}
	if last := progress.Current; last != "" && last != c.ID {
		p.printf("This try is of %s. The copy of %s stays as it is; to go back to it: %s", p.lessonFile(e), last, p.command("watch "+last))
	}
	if err := p.reach(ctx, c, e, n); err != nil {
		return err
	}
	return p.inSession(ctx, in, t, timeout, func(s *session) (bool, error) {
		s.only = n
		return s.work(ctx, c, e)
	})
}

// nextTry leads through the first try of these steps that doesn't pass yet, and comes back to the lesson.
func (s *session) nextTry(ctx context.Context, l lesson.Lesson, stop track.Stop) error {
	e, found, err := lesson.Tries(s.home, l.Ref)
	if err != nil || !found {
		return cmp.Or(err, errors.New("this lesson has no tries; n goes on"))
	}
	progress, err := s.progress(ctx)
	if err != nil {
		return err
	}
	n := tryAt(l, stop, e, progress.of(e.ID()).Passed)
	if n == 0 {
		return errors.New("no try is left in these steps; n goes on")
	}
	c, e, _, err := s.begin(ctx, strconv.Itoa(e.Stage.Number), e.Name)
	if err == nil {
		err = s.reach(ctx, c, e, n)
	}
	if err != nil {
		return err
	}
	s.only = n
	goesOn, err := s.work(ctx, c, e)
	s.only, s.back, s.quits = 0, false, !goesOn
	if err != nil || s.quits {
		return err
	}
	s.printf("\n%s", readingHelp)
	return s.update(func(progress *Progress) { progress.Reading = true })
}

// triesLeft says whether the steps of a stop ask for a try that doesn't pass yet.
func (s *session) triesLeft(progress Progress, l lesson.Lesson, stop track.Stop) bool {
	e, found, err := lesson.Tries(s.home, l.Ref)
	return err == nil && found && stop.Tries && tryAt(l, stop, e, progress.of(e.ID()).Passed) > 0
}

// tryAt is the number of the first try, after those that have passed, that the steps of a stop ask for;
// 0 if there is none.
func tryAt(l lesson.Lesson, stop track.Stop, e exercise.Exercise, passed int) int {
	for n := passed; n < len(e.Judge.Groups); n++ {
		for _, step := range l.Steps {
			if stop.Has(step.Number) && slices.ContainsFunc(step.Tries, func(t lesson.Try) bool { return t.Name == e.Judge.Groups[n].Name }) {
				return n + 1
			}
		}
	}
	return 0
}

// reach puts the solutions of the tries before the nth into the copy, unless they pass there. They
// are put upon what the learner has written, or else in its place.
func (p practice) reach(ctx context.Context, c workCopy, e exercise.Exercise, n int) error {
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	passed := progress.of(c.ID).Passed
	if passed >= n-1 {
		return nil
	}
	if c.solve(ctx, e, passed+1, n-1) != nil {
		if _, err := p.putBack(ctx, c); err != nil {
			return err
		}
		if err := c.solve(ctx, e, 1, n-1); err != nil {
			return fmt.Errorf("a solution of the workshop does not apply to its own code: %w", err)
		}
	}
	for _, group := range e.Judge.Groups[passed : n-1] {
		p.printf("The copy now has the solution of %s.", group.Name)
	}
	return p.record(c.ID, func(record *Record) {
		for _, group := range e.Judge.Groups[passed : n-1] {
			record.Shown = append(record.Shown, group.Name)
		}
		record.Passed = n - 1
	})
}

// solve applies the solutions of tries, from one to another.
func (c workCopy) solve(ctx context.Context, e exercise.Exercise, from, to int) error {
	for n := from; n <= to; n++ {
		if _, err := c.Git(ctx, "apply", e.Step(n)); err != nil {
			return err
		}
	}
	return nil
}

// tryShown prints the solution of the current try, or puts it into the copy.
func (p practice) tryShown(ctx context.Context, c workCopy, e exercise.Exercise, apply bool) error {
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	n := min(progress.of(c.ID).Passed+1, len(e.Judge.Groups))
	if apply {
		return p.reach(ctx, c, e, n+1)
	}
	diff, err := os.ReadFile(c.Path(e.Step(n)))
	if err != nil {
		return fmt.Errorf("reading the solution: %w", err)
	}
	_, hunks, _ := strings.Cut(string(diff), "\n@@")
	p.printf("This solves %s; any other code that passes is as good. To put it into the copy: %s\n\n@@%s", e.Judge.Groups[n-1].Name, p.command("solution --apply"), hunks)
	return nil
}

// presentTry says what the current try asks for, and where.
func (s *session) presentTry(ctx context.Context, c workCopy, e exercise.Exercise) error {
	progress, err := s.progress(ctx)
	if err != nil {
		return err
	}
	n := s.only
	if n == 0 {
		n = min(progress.of(c.ID).Passed+1, len(e.Judge.Groups))
	}
	group := e.Judge.Groups[n-1]
	s.printf("\n%s (about %s)", group.Name, number(group.Minutes, "minute", "minutes"))
	l, err := s.lessonIn(path.Join(e.Stage.Folder, e.Judge.Lesson))
	if err != nil {
		return err
	}
	for _, step := range l.Steps {
		for _, try := range step.Tries {
			if try.Name == group.Name {
				s.printf("\n%s\n\n  lesson    %s:%d, step %d", s.paragraph(try.Text), s.lessonFile(e), try.Line, step.Number)
			}
		}
	}
	solution, err := os.ReadFile(c.Path(e.Step(n)))
	if err != nil {
		return fmt.Errorf("reading the solution: %w", err)
	}
	for _, file := range e.Judge.Write {
		ofThis := strings.Contains(string(solution), "\n+++ b/"+e.Path(file)+"\n") // and not of other tries
		if ofThis && !isGenerated(c.Path(e.Path(file))) {
			s.printf("  write in  %s", s.path(c.Path(e.Path(file))))
		}
	}
	return nil
}

// isGenerated says whether a file is controller-gen's to write.
func isGenerated(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && bytes.Contains(text, []byte("controller-gen.kubebuilder.io/version:"))
}

// lessonFile is where the lesson is that asks for some tries.
func (p practice) lessonFile(e exercise.Exercise) string {
	return p.path(p.home.Path(e.Stage.Folder, e.Judge.Lesson, "README.md"))
}

// level is what a table says of how hard an exercise is.
func level(e exercise.Exercise) string {
	if e.Judge.Kind == exercise.Try {
		return exercise.Try
	}
	return strconv.Itoa(e.Judge.Level)
}
