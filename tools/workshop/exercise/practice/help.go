package practice

import (
	"context"
	"fmt"

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
		p.say("You had no hint yet.")
	case again:
		for i, text := range group.Hints[:shown] {
			p.say("Hint %d of %s\n\n%s\n", i+1, of, text)
		}
	case shown == len(group.Hints):
		p.say("You had all hints; to see them again: %s", p.command("hint --all"))
	default:
		p.say("Hint %d of %s\n\n%s\n", shown+1, of, group.Hints[shown])
		shown++
		err = p.record(c.ID, func(record *Record) { record.sawHint(group, shown) })
	}
	if err != nil {
		return err
	}
	if left := len(group.Hints) - shown; left > 0 {
		p.say("%s left: %s", number(left, "hint is", "hints are"), p.key("h", "hint"))
	} else {
		p.say("No hint is left. The way back, after your first try: %s", p.key("s", "solution"))
	}
	return nil
}

// solution tells what was wrong and shows the way back. It takes it only if asked to.
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
		return fmt.Errorf("the solution is there after your first try, which is: %s", p.key("to save a change", "check"))
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
		return fmt.Errorf("looking for the way back: %w", err)
	}
	way := "The way back; another one"
	if e.Judge.Kind == exercise.Build {
		way = "What the workshop wrote; another program"
	}
	p.say("%s\n\n%s that passes is as good. To have it made: %s\n\n%s", e.Solution, way, p.command("solution --apply"), diff)
	return nil
}

func (p practice) takeBack(ctx context.Context, c workCopy, patch string) error {
	if err := p.putBack(ctx, c); err != nil {
		return err
	}
	if _, err := c.Git(ctx, "apply", "--reverse", patch); err != nil {
		return fmt.Errorf("taking the patch back: %w", err)
	}
	p.say("The copy holds the solution; to see it: git -C '%s' diff", p.path(c.Root))
	return nil
}

// reset begins the exercise anew, in its present version, and keeps what the learner did.
func (p practice) reset(ctx context.Context, c workCopy) error {
	if err := p.putBack(ctx, c); err != nil {
		return err
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
	p.say("The workshop has changed since you started it: the copy is of your last commit now.")
	return nil
}

// putBack makes the copy what it was at the start, and keeps what the learner did.
func (p practice) putBack(ctx context.Context, c workCopy) error {
	saved, err := c.save(ctx)
	if err != nil {
		return fmt.Errorf("%w; nothing was reset", err)
	}
	kept, err := c.keep(ctx)
	if err != nil {
		return fmt.Errorf("%w; nothing was reset", err)
	}
	if err := c.reset(ctx); err != nil {
		return err
	}
	if err := p.record(c.ID, func(record *Record) { record.Passed = 0 }); err != nil {
		return err
	}
	for _, branch := range kept {
		p.say("What you had committed is kept on the branch %s", branch)
	}
	if saved == "" && len(kept) == 0 {
		p.say("%s is as at its start; you had changed nothing.", c.ID)
		return nil
	}
	if saved == "" {
		p.say("%s is as at its start again.", c.ID)
		return nil
	}
	p.say("%s is as at its start again. What you had changed is kept in %s", c.ID, p.path(saved))
	return nil
}
