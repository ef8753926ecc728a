package practice

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	waited   bool // a test has timed out, maybe too early
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

// A judgement is what a check found, and what it means.
type judgement struct {
	outcome
	exercise  exercise.Exercise
	groups    int // that pass, from the first on
	solved    bool
	hintsLeft int // of the current group
	took      time.Duration
}

// check runs the judging tests in the copy and prints the result. Its error is
// ErrNotYet if it is not solved.
func (p practice) check(ctx context.Context, c workCopy, timeout time.Duration) error {
	e, err := c.exercise()
	if err != nil {
		return err
	}
	if err := p.ensureLab(ctx, c.Repository, e); err != nil {
		return err
	}
	j, err := p.judge(ctx, c, timeout, 1)
	if err != nil {
		return err
	}
	p.show(j.outcome, j.exercise.Judge.Groups)
	if j.solved {
		p.congratulate(ctx, j.exercise)
		return nil
	}
	if j.tooLong {
		p.printf("\nThe tests were stopped after %s: something waits forever, or loops forever. If the machine is slow: %s", timeout, p.command("check --timeout 15m"))
	}
	p.printf("\nNot yet: %s. %s", j.count(), p.help(j.hintsLeft))
	return ErrNotYet
}

// count returns how many pass, of the groups or of the tests.
func (j judgement) count() string {
	groups := fmt.Sprintf("%d of %d groups", j.groups, len(j.exercise.Judge.Groups))
	switch j.exercise.Judge.Kind {
	case exercise.Mend:
		return fmt.Sprintf("%d of %d pass", j.passing(), len(j.exercise.Judge.Tests)+len(j.exercise.Judge.Keeps))
	case exercise.Try:
		groups = fmt.Sprintf("%d of %d tries", j.groups, len(j.exercise.Judge.Groups))
	}
	if j.compiler != "" || j.tooLong { // this check could not count them
		return groups + " passed before"
	}
	return groups + " pass"
}

// judge runs the judging tests in the copy, and records what came of it and how many tries
// that was.
func (p practice) judge(ctx context.Context, c workCopy, timeout time.Duration, tries int) (judgement, error) {
	began := time.Now()
	e, err := p.intact(ctx, c)
	if err != nil {
		return judgement{}, err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return judgement{}, err
	}
	if !p.byKey {
		p.printf("%s: %s", c.ID, e.Title)
	}
	j := judgement{exercise: e}
	j.outcome, j.groups, err = p.runGroups(ctx, c, e, progress.of(c.ID).Passed, timeout)
	if err != nil {
		return j, err
	}
	j.solved = j.outcome.solved() && j.groups == len(e.Judge.Groups)
	err = p.record(c.ID, func(record *Record) {
		record.Tries += tries
		record.Passed = j.groups
		if j.solved && record.Solved.IsZero() {
			record.Solved = now()
		}
		group := record.group(e)
		j.hintsLeft = len(group.Hints) - record.hints(group)
	})
	j.took = time.Since(began)
	return j, err
}

// runGroups runs the groups that passed at the last check and the next one, and then one
// after the other as long as they pass: of code that is not written yet, nobody waits for the
// tests. Code that cannot be judged leaves the count of groups that pass as it was.
func (p practice) runGroups(ctx context.Context, c workCopy, e exercise.Exercise, passed int, timeout time.Duration) (outcome, int, error) {
	groups := e.Judge.Groups
	n := min(passed+1, len(groups))
	o, err := p.run(ctx, c, e, groups[:n], timeout)
	for ; err == nil && o.solved() && n < len(groups) && !p.stepwise; n++ {
		p.printf("%s", passes(groups, n))
		var next outcome
		next, err = p.run(ctx, c, e, groups[n:n+1], timeout)
		next.findings = append(o.findings, next.findings...)
		o = next
	}
	if err != nil || o.compiler != "" || o.tooLong {
		return o, passed, err
	}
	return o, o.groups(groups), nil
}

// passes says that the nth group passes, and that the next one is run.
func passes(groups []exercise.Group, n int) string {
	return fmt.Sprintf("%d/%d %s passes. Running the next group ...", n, len(groups), groups[n-1].Name)
}

// run runs the tests of some groups and judges their output.
func (p practice) run(ctx context.Context, c workCopy, e exercise.Exercise, groups []exercise.Group, timeout time.Duration) (outcome, error) {
	var tests []exercise.Test
	for _, group := range groups {
		tests = append(tests, group.Tests...)
	}
	if tests[len(tests)-1] == e.Judge.Tests[len(e.Judge.Tests)-1] {
		tests = append(tests, e.Judge.Keeps...)
	}
	module := gotest.Module{
		Dir:       c.Path(e.Module()),
		Assets:    p.assets,
		Wait:      p.wait,
		Variables: p.variables,
		Flags:     e.Flags(),
		Slow:      func(after time.Duration, doing string) { p.printf("  %s: %s", after, doing) },
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTooLong)
	defer cancel()
	// To vet a package, go test first vets all that it imports, which takes longer than
	// compiling it. The tests check what a learner must not do. Linking takes most of the time,
	// and less without what a debugger needs.
	args := []string{"-count=1", "-vet=off", "-ldflags=-s -w", "-run", exercise.Pattern(tests)}
	report, err := module.Test(ctx, append(args, exercise.Packages(tests)...)...)
	tooLong := errors.Is(err, errTooLong)
	if err != nil && !tooLong {
		return outcome{}, err
	}
	if report == nil { // it was not even begun
		return outcome{tooLong: true}, nil
	}
	findings := judge(tests, report, module.Dir)
	waited := slices.ContainsFunc(findings, func(f finding) bool { return !f.passed && f.took >= p.wait })
	return outcome{notCompiling(report), findings, tooLong, waited}, nil
}
