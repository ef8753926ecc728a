package practice

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// start gives the learner a copy of an exercise, or says that there is one already.
func (p practice) start(ctx context.Context, number, name string) error {
	if number == "" || name == "" {
		return fmt.Errorf("name the exercise: make exercise N=1 NAME=...; to list them: %s", p.command("list"))
	}
	c, e, started, err := p.begin(ctx, number, name)
	if err != nil {
		return err
	}
	if started {
		progress, err := p.progress(ctx)
		if err != nil {
			return err
		}
		p.printf("You have already started %s (%s); the copy is as you left it. To start again: %s\n", c.ID, counts(*progress.of(c.ID)), p.command("reset"))
		if err := p.printOutdated(ctx, c, e); err != nil {
			return err
		}
	}
	p.introduce(c, e)
	return p.ensureLab(ctx, c.Repository, e)
}

// begin makes an exercise the current one, and makes its copy if there is none.
func (p practice) begin(ctx context.Context, number, name string) (workCopy, exercise.Exercise, bool, error) {
	// The copy may be of a branch with more stages than this one.
	e, started, err := p.find(ctx, number, name)
	if err != nil {
		return workCopy{}, e, false, err
	}
	if _, err := p.progress(ctx); err != nil { // says it if that is lost, before there is a new copy
		return workCopy{}, e, false, err
	}
	c := p.copyOf(e.ID())
	if !started {
		if e, err = p.prepare(ctx, c, e); err != nil {
			return c, e, false, err
		}
	}
	return c, e, started, p.update(func(progress *Progress) {
		progress.Current, progress.Reading = c.ID, false
		if record := progress.of(c.ID); record.Started.IsZero() {
			record.Started = now()
		}
		if !started { // what passed was in a copy that is gone
			progress.of(c.ID).Passed, progress.of(c.ID).Shown = 0, nil
		}
	})
}

func (p practice) printOutdated(ctx context.Context, c workCopy, e exercise.Exercise) error {
	outdated, err := c.outdated(ctx, p.home, e)
	if err == nil && outdated {
		p.printf("The workshop has changed since you started. To start again with the new version: %s (your changes are kept)\n", p.key("r", "reset"))
	}
	return err
}

func (p practice) find(ctx context.Context, number, name string) (exercise.Exercise, bool, error) {
	if n, err := strconv.Atoi(number); err == nil {
		c := p.copyOf(fmt.Sprintf("%d-%s", n, name))
		if c.exists(ctx) {
			e, err := c.exercise()
			return e, true, err
		}
	}
	e, err := exercise.Find(p.home, number, name)
	return e, false, err
}

// prepare makes the copy, and returns the exercise as it is there. What stands in its
// way is never removed.
func (p practice) prepare(ctx context.Context, c workCopy, e exercise.Exercise) (exercise.Exercise, error) {
	if entries, err := os.ReadDir(c.Root); err == nil && len(entries) > 0 || err != nil && !os.IsNotExist(err) {
		return e, fmt.Errorf("%s already exists, and is not a copy of the exercise; move it away and start again", p.path(c.Root))
	}
	if err := c.unregister(ctx, p.home); err != nil {
		return e, err
	}
	if _, err := p.home.Git(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+c.branch()); err == nil {
		if err := c.bringBack(ctx, p.home); err != nil {
			return e, err
		}
		p.printf("The copy of this exercise was missing. It is restored, with your commits on the branch %s. To start again: %s\n", c.branch(), p.command("reset"))
		return c.exercise()
	}
	if err := c.make(ctx, p.home, e); err != nil {
		return e, err
	}
	changes, err := p.home.Git(ctx, "status", "--porcelain", "--untracked-files=normal")
	if err != nil {
		return e, err
	}
	if changes != "" {
		p.printf("The copy is made from your last commit, without your uncommitted changes.\n")
	}
	return c.exercise()
}

func (p practice) introduce(c workCopy, e exercise.Exercise) {
	p.printf("%s: %s (level %d, about %d minutes)", c.ID, e.Title, e.Judge.Level, e.Judge.Minutes)
	p.printf("\nYour copy of the repository:\n  %s", p.path(c.Root))
	p.printf("Read the task:\n  %s", p.path(c.Path(e.Folder(), "README.md")))
	p.printf("Then open:")
	for _, file := range e.Judge.Read {
		p.printf("  %s", p.path(c.Path(e.Path(file))))
	}
	if len(e.Judge.Write) > 0 {
		p.printf("Write in:")
		for _, file := range e.Judge.Write {
			p.printf("  %s", p.path(c.Path(e.Path(file))))
		}
	}
	p.printf("\nRun:")
	for _, line := range [][2]string{
		{"check", "run the tests of the exercise"},
		{"watch", "the same, at each save"},
		{"hint", "show one more hint"},
		{"solution", "show the solution, after your first try"},
		{"reset", "start again; your changes are kept"},
		{"list", "show your progress"},
	} {
		p.printf("  %-*s  %s", len(p.command("solution")), p.command(line[0]), line[1])
	}
}

// counts says in a few words what was done.
func counts(r Record) string {
	if r.Hints == 0 {
		return number(r.Tries, "try", "tries")
	}
	return number(r.Tries, "try", "tries") + ", " + number(r.Hints, "hint", "hints")
}

func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
