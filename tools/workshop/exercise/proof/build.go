package proof

import (
	"context"
	"fmt"
	"slices"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// buildRules says what is wrong with what the patches of an exercise to build touch: nothing
// but the files in which the learner writes.
func buildRules(ctx context.Context, r repository.Repository, e exercise.Exercise, files []string) []string {
	var patches, problems []string
	for n := range e.Judge.Groups {
		patches = append(patches, e.Step(n+1))
	}
	for _, w := range e.Judge.Wrong {
		patches = append(patches, e.WrongPatch(w))
	}
	for _, patch := range patches {
		more, wrong := patchRules(ctx, r, e, patch)
		problems = append(problems, wrong...)
		files = slices.Concat(files, more)
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if !slices.Contains(written(e), file) {
			problems = append(problems, fmt.Sprintf("its patches touch %s, which judge.yaml does not name under write", file))
		}
	}
	return problems
}

// written are the files in which the learner writes, from the top of the repository.
func written(e exercise.Exercise) []string {
	var files []string
	for _, file := range e.Judge.Write {
		files = append(files, e.Path(file))
	}
	return files
}

// build writes the code of one group after the other on the stubs, and says where a group does
// not pass without the later ones, or the next one already does. After the last step the code
// is that of the stage again, whose tests pass.
func (p *Prover) build(ctx context.Context, s *slot, t trial) (problems []string, err error) {
	module := p.module(s, t.Module(), t.ID())
	groups := t.Judge.Groups
	for i := range groups {
		step := fmt.Sprintf("steps/%d.patch", i+1)
		if err := s.apply(ctx, t.Step(i+1)); err != nil {
			return append(problems, fmt.Sprintf("%s does not apply after what comes before it: %v; make it again", step, err)), nil
		}
		problems = append(problems, formatted(s.Repository, written(t.Exercise))...)
		if i == len(groups)-1 {
			break
		}
		more, err := p.step(ctx, module, groups, i)
		problems = append(problems, more...)
		if err != nil {
			return problems, err
		}
	}
	if _, err := s.Git(ctx, "diff", "--cached", "--quiet", "HEAD"); err != nil {
		problems = append(problems, "after the last of steps the code is not that of the stage: make break.patch or the steps again")
	}
	return problems, nil
}

// step tests what a step has written: the groups up to the one at last, and of the next group
// the first test, which fails as a rule. Only where it passes are the others run, for one of
// them has to fail.
func (p *Prover) step(ctx context.Context, module gotest.Module, groups []exercise.Group, last int) (problems []string, err error) {
	var tests []exercise.Test
	for _, group := range groups[:last+1] {
		tests = append(tests, group.Tests...)
	}
	next := groups[last+1]
	report, err := p.only(ctx, module, append(tests, next.Tests[0]))
	if err != nil {
		return nil, err
	}
	step := fmt.Sprintf("with steps/%d.patch ", last+1)
	for _, p := range report.Packages {
		if said := p.Broken(module.Dir); said != "" {
			return []string{step + said}, nil
		}
	}
	late, err := p.late(ctx, module, next.Tests, report)
	if err != nil {
		return nil, err
	}
	for _, group := range groups[:last+1] {
		for _, test := range group.Tests {
			isLate := slices.ContainsFunc(late, func(l exercise.Test) bool { return l.Package == test.Package && gotest.Covers(test.Test, l.Test) })
			if !passed(report, test) && !isLate {
				problems = append(problems, fmt.Sprintf("%s%s of %s does not pass, but its group is written: %s", step, test.Test, gotest.Place(test.Package), gotest.Quote(output(report, test), module.Dir)))
			}
		}
	}
	if !passed(report, next.Tests[0]) {
		return problems, nil
	}
	if report, err = p.only(ctx, module, next.Tests); err != nil {
		return problems, err
	}
	if !slices.ContainsFunc(next.Tests, func(test exercise.Test) bool { return !passed(report, test) }) {
		problems = append(problems, fmt.Sprintf("%sthe group %q passes already: nothing of it is left to write", step, next.Name))
	}
	return problems, nil
}

// only runs exactly these tests.
func (p *Prover) only(ctx context.Context, module gotest.Module, tests []exercise.Test) (*gotest.Report, error) {
	return p.test(ctx, module, append([]string{"-run", exercise.Pattern(tests)}, exercise.Packages(tests)...)...)
}

func passed(report *gotest.Report, test exercise.Test) bool {
	p := report.Package(test.Package)
	return p != nil && p.Test(test.Test) != nil && p.Test(test.Test).Verdict == gotest.Passed
}

func output(report *gotest.Report, test exercise.Test) string {
	if p := report.Package(test.Package); p != nil {
		return p.Output(test.Test)
	}
	return ""
}

// seed puts one mistake after the other into the code of the stage, and says which of them the
// judge does not find out, or takes for another.
func (p *Prover) seed(ctx context.Context, s *slot, t trial) (problems []string, err error) {
	module := p.module(s, t.Module(), t.ID())
	for _, w := range t.Judge.Wrong {
		if err := s.restore(ctx); err != nil {
			return problems, err
		}
		if err := s.apply(ctx, t.WrongPatch(w)); err != nil {
			problems = append(problems, fmt.Sprintf("%s does not apply to the code of the stage: %v; make it again", w.Patch, err))
			continue
		}
		for _, problem := range formatted(s.Repository, written(t.Exercise)) {
			problems = append(problems, w.Patch+": "+problem)
		}
		report, err := p.only(ctx, module, []exercise.Test{w.Test})
		if err != nil {
			return problems, err
		}
		for _, problem := range compare([]exercise.Test{w.Test}, report, module.Dir) {
			problems = append(problems, w.Patch+": "+problem)
		}
	}
	return problems, nil
}
