package proof

import (
	"fmt"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
)

// lessonTest fails when the code is not what the lesson quotes, so with many a patch. It
// says nothing about what the code does, and judges nobody.
const lessonTest = "TestTheLessonQuotesThisCode"

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

// A stray is a test that fails with the patch, though judge.yaml does not name it.
type stray struct {
	pkg, test string
	output    string
}

func (s stray) String() string {
	return fmt.Sprintf("with the patch %s of %s fails too: name it in judge.yaml or make the patch smaller%s", s.test, gotest.Place(s.pkg), s.output)
}

func strays(tests []exercise.Test, report *gotest.Report, dir string) []stray {
	var found []stray
	for _, p := range report.Packages {
		if p.Broken(dir) != "" {
			continue // compare says it
		}
		for _, test := range p.Failures() {
			named := func(t exercise.Test) bool { return t.Package == p.Path && gotest.Covers(t.Test, test.Name) }
			if test.Name != lessonTest && !slices.ContainsFunc(tests, named) {
				found = append(found, stray{p.Path, test.Name, gotest.Quote(p.Output(test.Name), dir)})
			}
		}
	}
	return found
}
