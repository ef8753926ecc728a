package practice

import (
	"context"
	"errors"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
)

// errTooLong is why a check that took too long was ended.
var errTooLong = errors.New("it took too long")

// An outcome is what one check found.
type outcome struct {
	compiler string // what it says, if the code does not compile
	findings []finding
	tooLong  bool
}

func (o outcome) solved() bool {
	return o.compiler == "" && !o.tooLong && len(o.findings) > 0 && o.passing() == len(o.findings)
}

func (o outcome) passing() int {
	n := 0
	for _, f := range o.findings {
		if f.passed {
			n++
		}
	}
	return n
}

// groups counts those that pass, from the first on.
func (o outcome) groups(groups []exercise.Group) int {
	rest := o.findings
	for i, group := range groups {
		n := len(group.Tests)
		if len(rest) < n || (outcome{findings: rest[:n]}).passing() < n {
			return i
		}
		rest = rest[n:]
	}
	return len(groups)
}

// check runs the judging tests in the copy and says how it stands. Its error is
// ErrNotYet if it is not solved.
func (p practice) check(ctx context.Context, c workCopy, timeout time.Duration) error {
	e, err := p.intact(ctx, c)
	if err != nil {
		return err
	}
	p.say("%s: %s", c.ID, e.Title)
	progress, err := p.progress(ctx)
	if err != nil {
		return err
	}
	o, passed, err := p.runGroups(ctx, c, e, progress.of(c.ID).Passed, timeout)
	if err != nil {
		return err
	}
	groups := e.Judge.Groups
	solved := o.solved() && passed == len(groups)
	hintsLeft := 0
	err = p.record(c.ID, func(record *Record) {
		record.Tries++
		record.Passed = passed
		if solved && record.Solved.IsZero() {
			record.Solved = now()
		}
		group := record.group(e)
		hintsLeft = len(group.Hints) - record.hints(group)
	})
	if err != nil {
		return err
	}
	p.show(o, groups)
	if solved {
		p.congratulate(ctx, e)
		return nil
	}
	if o.tooLong {
		p.say("\nIt was ended after %s: something waits for ever, or goes round for ever. If the machine is slow: %s", timeout, p.command("check --timeout 15m"))
	}
	if e.Judge.Kind == exercise.Build {
		p.say("\nNot yet: %d of %d groups pass. %s", passed, len(groups), p.help(hintsLeft))
	} else {
		p.say("\nNot yet: %d of %d pass. %s", o.passing(), len(e.Judge.Tests), p.help(hintsLeft))
	}
	return ErrNotYet
}

// runGroups runs the groups that passed at the last check and the next one, and one more each
// time that all of them pass: of code that is not written yet, nobody waits for the tests.
// Code that cannot be judged leaves the count of groups that pass as it was.
func (p practice) runGroups(ctx context.Context, c workCopy, e exercise.Exercise, passed int, timeout time.Duration) (outcome, int, error) {
	groups := e.Judge.Groups
	for n := min(passed+1, len(groups)); ; n++ {
		var tests []exercise.Test
		for _, group := range groups[:n] {
			tests = append(tests, group.Tests...)
		}
		o, err := p.run(ctx, c, e, tests, timeout)
		if err != nil || o.compiler != "" || o.tooLong {
			return o, passed, err
		}
		passed = o.groups(groups)
		if n == len(groups) || !o.solved() {
			return o, passed, nil
		}
	}
}

// run runs some of the tests and judges what they say.
func (p practice) run(ctx context.Context, c workCopy, e exercise.Exercise, tests []exercise.Test, timeout time.Duration) (outcome, error) {
	module := gotest.Module{
		Dir:    c.Path(e.Module()),
		Assets: p.home.Path("lab", "bin"),
		Wait:   30 * time.Second,
		Slow:   func(after time.Duration, doing string) { p.say("  %s: %s", after, doing) },
	}
	if note := module.MissingAssets(); note != "" {
		p.say("%s", note)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTooLong)
	defer cancel()
	// To vet a package, go test first vets all that it imports, which takes longer than
	// compiling it. What a learner must not do, the tests say.
	args := []string{"-count=1", "-vet=off", "-run", exercise.Pattern(tests)}
	report, err := module.Test(ctx, append(args, exercise.Packages(tests)...)...)
	tooLong := errors.Is(err, errTooLong)
	if err != nil && !tooLong {
		return outcome{}, err
	}
	if report == nil { // it was not even begun
		return outcome{tooLong: true}, nil
	}
	return outcome{notCompiling(report), judge(tests, report, module.Dir), tooLong}, nil
}
