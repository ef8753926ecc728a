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

// check runs the judging tests in the copy and says how it stands. Its error is
// ErrNotYet if it is not solved.
func (p practice) check(ctx context.Context, c workCopy, timeout time.Duration) error {
	e, err := p.intact(ctx, c)
	if err != nil {
		return err
	}
	p.say("%s: %s", c.ID, e.Title)
	o, err := p.run(ctx, c, e, timeout)
	if err != nil {
		return err
	}
	hintsLeft := 0
	err = p.record(ctx, c.ID, func(record *Record) {
		record.Tries++
		if o.solved() && record.Solved.IsZero() {
			record.Solved = now()
		}
		hintsLeft = len(e.Hints) - record.Hints
	})
	if err != nil {
		return err
	}
	p.show(o)
	if o.solved() {
		p.congratulate(ctx, e)
		return nil
	}
	if o.tooLong {
		p.say("\nIt was ended after %s: something waits for ever, or goes round for ever. If the machine is slow: %s", timeout, p.command("check --timeout 15m"))
	}
	p.say("\nNot yet: %d of %d pass. %s", o.passing(), len(e.Judge.Tests), p.help(hintsLeft))
	return ErrNotYet
}

// run runs the tests and judges what they say.
func (p practice) run(ctx context.Context, c workCopy, e exercise.Exercise, timeout time.Duration) (outcome, error) {
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
	args := []string{"-count=1", "-vet=off", "-run", pattern(e.Judge.Tests)}
	report, err := module.Test(ctx, append(args, e.Packages()...)...)
	tooLong := errors.Is(err, errTooLong)
	if err != nil && !tooLong {
		return outcome{}, err
	}
	if report == nil { // it was not even begun
		return outcome{tooLong: true}, nil
	}
	return outcome{notCompiling(report), judge(e.Judge.Tests, report, module.Dir), tooLong}, nil
}
