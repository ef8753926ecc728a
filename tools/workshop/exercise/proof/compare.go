package proof

import (
	"fmt"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
)

// compare says how the named tests did not fail as judge.yaml says. What fails beside
// them is told by strays.
func compare(tests []exercise.Test, report *gotest.Report, dir string) []string {
	var problems []string
	for _, p := range report.Packages {
		if said := p.Broken(dir); said != "" {
			problems = append(problems, "with the patch "+said+"\n  a learner is to see a test that fails: make the patch milder")
		}
	}
	for _, test := range tests {
		if problem := compareTest(test, report.Package(test.Package), dir); problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}

func compareTest(test exercise.Test, p *gotest.Package, dir string) string {
	if p != nil && p.Broken(dir) != "" {
		return "" // said already
	}
	name := test.Test + " of " + gotest.Place(test.Package)
	if p == nil || p.Test(test.Test) == nil {
		return fmt.Sprintf("with the patch %s is not run: is that its name, as go test prints it?", name)
	}
	switch verdict := p.Test(test.Test).Verdict; {
	case verdict == gotest.Passed:
		return fmt.Sprintf("with the patch %s passes, but judge.yaml says that it fails: the patch no longer bites; break what the test asks, or name another test", name)
	case verdict == gotest.Skipped:
		return fmt.Sprintf("with the patch %s skips itself: it judges nothing", name)
	case !strings.Contains(p.Output(test.Test), test.Output):
		return fmt.Sprintf("with the patch %s fails, but does not print %q, so for another reason than judge.yaml states; its output is:%s", name, test.Output, gotest.Quote(p.Output(test.Test), dir))
	}
	return ""
}

// strays says which tests fail with the patch though judge.yaml does not name them. One
// that fails only sometimes is among them: it is a defect of that test.
func strays(tests []exercise.Test, report *gotest.Report, dir string) []string {
	var problems []string
	for _, p := range report.Packages {
		if p.Broken(dir) != "" {
			continue // compare says it
		}
		for _, test := range p.Failures() {
			named := func(t exercise.Test) bool { return t.Package == p.Path && gotest.Covers(t.Test, test.Name) }
			if !slices.ContainsFunc(tests, named) {
				problems = append(problems, fmt.Sprintf("with the patch %s of %s fails too: name it in judge.yaml or make the patch smaller%s",
					test.Name, p.Place(), gotest.Quote(p.Output(test.Name), dir)))
			}
		}
	}
	return problems
}

// notPassed says which of the named tests did not pass without a patch, where all that was
// run did.
func notPassed(tests []exercise.Test, report *gotest.Report) []string {
	var problems []string
	for _, test := range tests {
		name := test.Test + " of " + gotest.Place(test.Package)
		p := report.Package(test.Package)
		switch {
		case p == nil || p.Test(test.Test) == nil:
			problems = append(problems, fmt.Sprintf("without any patch %s is not run: is that its name, as go test prints it?", name))
		case p.Test(test.Test).Verdict == gotest.Skipped:
			problems = append(problems, fmt.Sprintf("without any patch %s skips itself: it judges nothing", name))
		}
	}
	return problems
}
