package practice

import (
	"fmt"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
)

// A finding is the result of one judging test, or of a package as a whole.
type finding struct {
	what    string // the test or the package
	verdict string // one word or two
	passed  bool
	because string // what the test asks
	lines   []string
	took    time.Duration
}

// notCompiling returns what the compiler says, or "".
func notCompiling(report *gotest.Report) string {
	var printed []string
	for _, p := range report.Packages {
		// Two packages may wait for the same one.
		if p.Build != "" && !strings.Contains(strings.Join(printed, "\n"), p.Build) {
			printed = append(printed, p.Build)
		}
	}
	return strings.Join(printed, "\n")
}

// judge compares what was run with what has to pass. Nothing passes but a test that
// was run and did.
func judge(tests []exercise.Test, report *gotest.Report, dir string) []finding {
	var findings []finding
	for _, test := range tests {
		findings = append(findings, judgeTest(test, report.Package(test.Package), dir))
	}
	for _, p := range report.Packages {
		if extra, bad := judgePackage(tests, p, dir); bad {
			findings = append(findings, extra)
		}
	}
	return findings
}

func judgeTest(test exercise.Test, p *gotest.Package, dir string) finding {
	f := finding{what: test.Test, because: test.Because}
	if test.Package != "." {
		f.what += " (" + test.Package + ")"
	}
	if p == nil || p.Test(test.Test) == nil {
		f.verdict, f.because = "was not run", ""
		f.lines = []string{"There is no such test, or another test ended the run before it."}
		if p != nil && p.Test(test.Function()) != nil { // the test that it is a part of failed before
			f.lines = append(f.lines, gotest.Excerpt(p.Output(test.Function()), dir, 12)...)
		}
		return f
	}
	run := p.Test(test.Test)
	f.took = run.Took
	switch run.Verdict {
	case gotest.Passed:
		f.verdict, f.passed = "passes", true
		return f
	case gotest.Skipped:
		f.verdict = "was skipped"
	case gotest.Failed:
		f.verdict = "fails"
	case gotest.Unfinished:
		f.verdict = "did not end"
	}
	if panicked := p.Panic(); panicked != "" && strings.Contains(p.Output(test.Test), panicked) {
		f.verdict = "panics"
	}
	f.lines = gotest.Excerpt(p.Output(test.Test), dir, 12)
	return f
}

// judgePackage finds a package that failed, though each judging test in it passed: a
// goroutine that was left behind, or a panic after the last test.
func judgePackage(tests []exercise.Test, p *gotest.Package, dir string) (finding, bool) {
	if p.Verdict == gotest.Passed || p.Verdict == gotest.Skipped {
		return finding{}, false
	}
	for _, test := range tests {
		run := p.Test(test.Test)
		if test.Package == p.Path && (run == nil || run.Verdict != gotest.Passed) {
			return finding{}, false // that is why
		}
	}
	f := finding{what: p.Path, verdict: "fails", because: "The tests of the exercise pass, but the package fails."}
	output := p.Outside()
	for _, failure := range p.Failures() {
		f.because = fmt.Sprintf("The tests of the exercise pass, but the package fails: %s.", failure.Name)
		output = p.Output(failure.Name)
	}
	f.lines = gotest.Excerpt(output, dir, 12)
	return f, true
}
