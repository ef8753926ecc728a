package proof

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// mostLines is how many lines the solution of a try may add.
const mostLines = 10

// tryRules says what is wrong with what the solutions of tries touch, and how large they are.
func tryRules(ctx context.Context, r repository.Repository, e exercise.Exercise) (files, problems []string) {
	if e.Breaks {
		files, problems = patchRules(ctx, r, e, e.Patch())
	}
	problems = append(problems, buildRules(ctx, r, e, files)...)
	for n, try := range e.Judge.Groups {
		patch, err := os.ReadFile(r.Path(e.Step(n + 1)))
		if err != nil {
			return nil, append(problems, err.Error())
		}
		added := 0
		for line := range strings.Lines(string(patch)) {
			if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++ ") {
				added++
			}
		}
		if added > mostLines {
			problems = append(problems, fmt.Sprintf("%s.patch adds %d lines; a try is of %d at most: make two of it", try.Name, added, mostLines))
		}
	}
	return written(e), problems
}

// split takes the tries out of the trials. Their tests fail without a patch, so nothing has to pass
// before they are proved.
func split(trials []trial) (tries, others []trial) {
	isTry := func(t trial) bool { return t.Judge.Kind == exercise.Try }
	tries = slices.DeleteFunc(slices.Clone(trials), func(t trial) bool { return !isTry(t) })
	return tries, slices.DeleteFunc(slices.Clone(trials), isTry)
}

// tries solves one try after the other on the code of the stage, as a learner does in one copy. Before
// its solution a try fails for the stated reason, and afterwards it passes, and goes on to. Tries that
// begin with a skeleton end with the code of the stage.
func (p *Prover) tries(ctx context.Context, s *slot, t trial) (problems []string, err error) {
	if t.Breaks {
		if err := s.apply(ctx, t.Patch()); err != nil {
			return []string{fmt.Sprintf("break.patch no longer applies: %v; make it again", err)}, nil
		}
	}
	module := p.module(s, t.Module(), t.ID())
	module.Flags = t.Flags()
	if err := p.vet(ctx, module, t.Packages()); err != nil {
		return []string{"the tests of the tries do not compile, or go vet complains:" + gotest.Indent(strings.Split(err.Error(), "\n"))}, nil
	}
	for i, try := range t.Judge.Groups {
		more, err := p.attempt(ctx, module, t.Judge.Groups, i)
		if problems = append(problems, more...); err != nil {
			return problems, err
		}
		if err := s.apply(ctx, t.Step(i+1)); err != nil {
			return append(problems, fmt.Sprintf("%s.patch does not apply after what comes before it: %v; make it again", try.Name, err)), nil
		}
		for _, problem := range formatted(s.Repository, written(t.Exercise)) {
			problems = append(problems, try.Name+": "+problem)
		}
	}
	if _, err := s.Git(ctx, "diff", "--cached", "--quiet", "HEAD"); t.Breaks && err != nil {
		problems = append(problems, "after the last try the code is not that of the stage: make break.patch or the solutions again")
	}
	more, err := p.attempt(ctx, module, t.Judge.Groups, len(t.Judge.Groups))
	return append(problems, more...), err
}

// attempt runs the tests of the tries up to the one at i. That one has to fail, soon and for the
// stated reason, and those before it to pass. With no try at i, all have to pass.
func (p *Prover) attempt(ctx context.Context, module gotest.Module, groups []exercise.Group, i int) (problems []string, err error) {
	var solved, tests []exercise.Test
	for _, group := range groups[:i] {
		solved = append(solved, group.Tests...)
	}
	name := ""
	if tests = solved; i < len(groups) {
		name, tests = groups[i].Name+": ", slices.Concat(solved, groups[i].Tests)
	}
	report, err := p.only(ctx, module, tests)
	if err != nil {
		return nil, err
	}
	for _, pkg := range report.Packages {
		if said := pkg.Broken(module.Dir); said != "" {
			return []string{name + "before its solution " + said}, nil
		}
	}
	for _, test := range solved {
		if !passed(report, test) {
			problems = append(problems, fmt.Sprintf("%s%s does not pass, but its try is solved: %s", name, test.Test, gotest.Quote(output(report, test), module.Dir)))
		}
	}
	for _, test := range tests[len(solved):] {
		pkg := report.Package(test.Package)
		if problem := compareTest(test, pkg, module.Dir); problem != "" {
			problems = append(problems, name+strings.Replace(problem, "with the patch", "before its solution", 1))
		} else if took := pkg.Test(test.Test).Took; took > soon {
			problems = append(problems, fmt.Sprintf("%s%s takes %s to fail; a learner has a verdict in seconds: let it fail at once, not wait for what never comes", name, test.Test, took.Round(time.Second)))
		}
	}
	return problems, nil
}

// soon is how long a test of a try may take to fail. It is more than a verdict may take, for the
// sake of machines that have other things to do, and less than what a test waits for in vain.
var soon = shortWait / 4
