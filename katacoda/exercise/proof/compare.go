package proof

import (
	"fmt"
	"slices"
	"strings"

	"example.com/hacking-a-controller/katacoda/exercise"
	"example.com/hacking-a-controller/katacoda/exercise/gotest"
)

// red says what fails where everything has to pass.
func red(report *gotest.Report, dir string) []string {
	var problems []string
	for _, p := range report.Packages {
		if said := broken(p, dir); said != "" {
			problems = append(problems, said)
			continue
		}
		for _, test := range p.Failures() {
			problems = append(problems, fmt.Sprintf("%s of %s fails:%s", test.Name, place(p.Path), quote(p.Output(test.Name), dir)))
		}
	}
	return problems
}

// compare says how what failed with the patch differs from what judge.yaml says.
func compare(tests []exercise.Test, report *gotest.Report, dir string) []string {
	var problems []string
	for _, p := range report.Packages {
		if said := broken(p, dir); said != "" {
			problems = append(problems, "with the patch "+said+"\n  a learner is to see a test that fails: make the patch milder")
			continue
		}
		for _, test := range p.Failures() {
			named := func(t exercise.Test) bool { return t.Package == p.Path && gotest.Covers(t.Test, test.Name) }
			if !slices.ContainsFunc(tests, named) {
				problems = append(problems, fmt.Sprintf("with the patch %s of %s fails too: name it in judge.yaml or make the patch smaller%s",
					test.Name, place(p.Path), quote(p.Output(test.Name), dir)))
			}
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
	if p != nil && broken(p, dir) != "" {
		return "" // said already
	}
	name := test.Test + " of " + place(test.Package)
	if p == nil || p.Test(test.Test) == nil {
		return fmt.Sprintf("with the patch %s is not run: is that its name, as go test prints it?", name)
	}
	switch verdict := p.Test(test.Test).Verdict; {
	case verdict == gotest.Passed:
		return fmt.Sprintf("with the patch %s passes, but judge.yaml says that it fails: the patch no longer bites; break what the test asks, or name another test", name)
	case verdict == gotest.Skipped:
		return fmt.Sprintf("with the patch %s skips itself: it judges nothing", name)
	case !strings.Contains(p.Output(test.Test), test.Output):
		return fmt.Sprintf("with the patch %s fails, but does not print %q, so for another reason than judge.yaml states; its output is:%s", name, test.Output, quote(p.Output(test.Test), dir))
	}
	return ""
}

// broken says how a package failed in another way than by a test that failed.
func broken(p *gotest.Package, dir string) string {
	switch panicked := p.Panic(); {
	case p.Build != "":
		return fmt.Sprintf("%s does not compile:%s", place(p.Path), indent(strings.Split(p.Build, "\n")))
	case strings.HasPrefix(panicked, "panic: test timed out"):
		return fmt.Sprintf("%s hangs (%s):%s", place(p.Path), panicked, running(p))
	case panicked != "":
		return fmt.Sprintf("%s ends in a panic (%s):%s", place(p.Path), panicked, running(p))
	case p.Verdict != gotest.Passed && p.Verdict != gotest.Skipped && len(p.Failures()) == 0:
		return fmt.Sprintf("%s fails, though no test of it does:%s", place(p.Path), quote(p.Outside(), dir))
	}
	for _, test := range p.Failures() {
		if test.Verdict == gotest.Unfinished {
			return fmt.Sprintf("%s of %s ends its process:%s", test.Name, place(p.Path), quote(p.Output(test.Name)+p.Outside(), dir))
		}
	}
	return ""
}

// place is the path of a package, in words where it is only a dot.
func place(path string) string {
	if path == "." {
		return "the top package"
	}
	return path
}

// running names the tests that had begun when the process ended.
func running(p *gotest.Package) string {
	var names []string
	for _, test := range p.Failures() {
		names = append(names, test.Name)
	}
	if len(names) == 0 {
		return " after its last test"
	}
	return " in " + strings.Join(names, ", ")
}

func quote(output, dir string) string { return indent(gotest.Excerpt(output, dir, 8)) }

func indent(lines []string) string {
	if len(lines) == 0 {
		return " (nothing)"
	}
	return "\n    " + strings.Join(lines, "\n    ")
}
