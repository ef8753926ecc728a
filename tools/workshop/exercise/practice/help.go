package practice

import (
	"context"
	"fmt"
	"path/filepath"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// hint shows one more hint, or those that were shown already.
func (p practice) hint(ctx context.Context, c workCopy, again bool) error {
	e, err := c.exercise()
	if err != nil {
		return err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	group := progress.of(c.ID).group(e)
	of := fmt.Sprint(len(group.Hints))
	if group.Name != "" {
		of += " for " + group.Name
	}
	shown := progress.of(c.ID).hints(group)
	switch {
	case again && shown == 0:
		p.printf("You have seen no hint yet.")
	case again:
		for i, text := range group.Hints[:shown] {
			p.printf("Hint %d of %s\n\n%s\n", i+1, of, text)
		}
	case shown == len(group.Hints):
		p.printf("You have seen all hints. To see them again: %s", p.command("hint --all"))
	default:
		p.printf("Hint %d of %s\n\n%s\n", shown+1, of, group.Hints[shown])
		shown++
		err = p.record(c.ID, func(record *Record) { record.sawHint(group, shown) })
	}
	if err != nil {
		return err
	}
	if left := len(group.Hints) - shown; left > 0 {
		p.printf("%s left: %s", number(left, "hint is", "hints are"), p.key("h", "hint"))
	} else {
		p.printf("No hint is left. The solution, after your first try: %s", p.key("s", "solution"))
	}
	return nil
}

// solution prints what was wrong, and the fix. It applies the fix only with apply.
func (p practice) solution(ctx context.Context, c workCopy, apply bool) error {
	e, err := c.exercise()
	if err != nil {
		return err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	if progress.of(c.ID).Tries == 0 {
		return fmt.Errorf("the solution is available after your first try; to try: %s", p.key("save a change", "check"))
	}
	if e.Judge.Kind == exercise.Try {
		return p.tryShown(ctx, c, e, apply)
	}
	if apply {
		if err := p.takeBack(ctx, c, e.Patch()); err != nil {
			return err
		}
	}
	err = p.record(c.ID, func(record *Record) {
		if record.Solved.IsZero() && record.SolutionSeen.IsZero() {
			record.SolutionSeen = now()
		}
	})
	if err != nil || apply {
		return err
	}
	diff, err := c.Diff(ctx, c.broken(), c.broken()+"^")
	if err != nil {
		return fmt.Errorf("reading the solution: %w", err)
	}
	what := "This is the fix"
	if e.Judge.Kind == exercise.Build {
		what = "This is the workshop's code"
	}
	p.printf("%s\n\n%s; any other that passes is as good. To apply it: %s\n\n%s", e.Solution, what, p.command("solution --apply"), diff)
	return nil
}

func (p practice) takeBack(ctx context.Context, c workCopy, patch string) error {
	if _, err := p.putBack(ctx, c); err != nil {
		return err
	}
	if _, err := c.Git(ctx, "apply", "--reverse", patch); err != nil {
		return fmt.Errorf("reverting the patch: %w", err)
	}
	p.printf("The copy now has the solution. To see it: git -C '%s' diff", p.path(c.Root))
	return nil
}

// reset begins the exercise again, in its present version, and keeps what the learner did.
func (p practice) reset(ctx context.Context, c workCopy) error {
	saved, err := p.putBack(ctx, c)
	if err != nil {
		return err
	}
	if saved != "" {
		p.printf("To bring them back: git -C '%s' apply '../%s'", p.path(c.Root), filepath.Base(saved))
	}
	e, err := c.exercise()
	if err != nil {
		return err
	}
	if outdated, err := c.outdated(ctx, p.home, e); err != nil || !outdated {
		return err
	}
	if err := c.renew(ctx, p.home, e); err != nil {
		return err
	}
	p.printf("The workshop has changed since you started; the copy is now made from your last commit.")
	return nil
}

// putBack makes the copy what it was at the start, and keeps what the learner did. It
// returns the patch with what was not committed, or "".
func (p practice) putBack(ctx context.Context, c workCopy) (saved string, err error) {
	saved, err = c.save(ctx)
	if err != nil {
		return "", fmt.Errorf("%w; nothing was reset", err)
	}
	kept, err := c.keep(ctx)
	if err != nil {
		return "", fmt.Errorf("%w; nothing was reset", err)
	}
	if err := c.reset(ctx); err != nil {
		return "", err
	}
	if err := p.record(c.ID, func(record *Record) { record.Passed = 0 }); err != nil {
		return "", err
	}
	for _, branch := range kept {
		p.printf("Your commits are kept on the branch %s", branch)
	}
	if saved == "" && len(kept) == 0 {
		p.printf("%s has no changes to reset.", c.ID)
		return "", nil
	}
	if saved == "" {
		p.printf("%s is reset.", c.ID)
		return "", nil
	}
	p.printf("%s is reset. Your changes are kept in %s", c.ID, p.path(saved))
	return saved, nil
}
