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
	var problems []string
	for n := range e.Judge.Groups {
		more, wrong := patchRules(ctx, r, e, e.Step(n+1))
		problems = append(problems, wrong...)
		files = slices.Concat(files, more)
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if !slices.Contains(e.Judge.Write, file) {
			problems = append(problems, fmt.Sprintf("its patches touch %s, which judge.yaml does not name under write", file))
		}
	}
	return problems
}

// build writes the code of one group after the other on the stubs, and says where a group does
// not pass without the later ones, or a later one already does. After the last step the code
// is that of the stage again, whose tests pass.
func (p *Prover) build(ctx context.Context, s *slot, t trial) (problems []string, err error) {
	module := p.module(s, t.Module(), t.ID())
	groups := t.Judge.Groups
	for i := range groups {
		step := fmt.Sprintf("steps/%d.patch", i+1)
		if err := s.apply(ctx, t.Step(i+1)); err != nil {
			return append(problems, fmt.Sprintf("%s does not apply after what comes before it: %v; make it anew", step, err)), nil
		}
		problems = append(problems, formatted(s.Repository, t.Stage, t.Judge.Write)...)
		if i == len(groups)-1 {
			break
		}
		report, err := p.test(ctx, module, append([]string{"-run", exercise.Pattern(t.Judge.Tests)}, t.Packages()...)...)
		if err != nil {
			return problems, err
		}
		problems = append(problems, compareGroups(groups, i, report, module.Dir)...)
	}
	if _, err := s.Git(ctx, "diff", "--cached", "--quiet", "HEAD"); err != nil {
		problems = append(problems, "after the last of steps the code is not that of the stage: make break.patch or the steps anew")
	}
	return problems, nil
}

// compareGroups says which groups up to the one at last do not pass, and which later ones do.
func compareGroups(groups []exercise.Group, last int, report *gotest.Report, dir string) []string {
	var problems []string
	step := fmt.Sprintf("with steps/%d.patch ", last+1)
	for _, p := range report.Packages {
		if said := p.Broken(dir); said != "" {
			return append(problems, step+said)
		}
	}
	for i, group := range groups {
		failed := 0
		for _, test := range group.Tests {
			p := report.Package(test.Package)
			if p != nil && p.Test(test.Test) != nil && p.Test(test.Test).Verdict == gotest.Passed {
				continue
			}
			failed++
			if i <= last {
				output := ""
				if p != nil {
					output = p.Output(test.Test)
				}
				problems = append(problems, fmt.Sprintf("%s%s of %s does not pass, but its group is written: %s", step, test.Test, gotest.Place(test.Package), gotest.Quote(output, dir)))
			}
		}
		if i > last && failed == 0 {
			problems = append(problems, fmt.Sprintf("%sthe group %q passes already: nothing of it is left to write", step, group.Name))
		}
	}
	return problems
}
