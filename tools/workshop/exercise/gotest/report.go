// Package gotest runs go test and reads what it says.
package gotest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Verdict is how a test or a package ended.
type Verdict string

// These are the words of go test -json. A test that began and did not end has none:
// its process ended first.
const (
	Passed     Verdict = "pass"
	Failed     Verdict = "fail"
	Skipped    Verdict = "skip"
	Unfinished Verdict = ""
)

// A Report is what one run of go test said.
type Report struct {
	// Packages are in the order in which they began.
	Packages []*Package

	builds map[string]*strings.Builder
}

// A Package is one package of a run.
type Package struct {
	Path    string // its import path, or ./path once it is relative to its module
	Verdict Verdict
	Build   string // what the compiler said, if it did not compile
	Tests   []*Test

	output strings.Builder
}

// A Test is one test, or one subtest, of a package.
type Test struct {
	Name    string
	Verdict Verdict
	Took    time.Duration

	output strings.Builder
}

// An Event is one line of go test -json; see go doc test2json.
type Event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	ImportPath  string
	FailedBuild string
	Elapsed     float64 // seconds
}

// Read reads the output of go test -json to its end. It calls saw, if there is one,
// after each event.
func Read(r io.Reader, saw func(Event)) (*Report, error) {
	report := &Report{builds: map[string]*strings.Builder{}}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var event Event
		// A line that is no event comes from a program that writes past the testing
		// package. It decides nothing.
		if json.Unmarshal([]byte(line), &event) == nil {
			report.add(event)
			if saw != nil {
				saw(event)
			}
		}
		if err == io.EOF {
			return report, nil
		}
		if err != nil {
			return report, fmt.Errorf("reading what go test says: %w", err)
		}
	}
}

func (r *Report) add(event Event) {
	switch event.Action {
	case "build-output":
		if r.builds[event.ImportPath] == nil {
			r.builds[event.ImportPath] = &strings.Builder{}
		}
		r.builds[event.ImportPath].WriteString(event.Output)
		return
	case "build-fail":
		return
	}
	if event.Package == "" {
		return
	}
	p := r.Package(event.Package)
	if p == nil {
		p = &Package{Path: event.Package}
		r.Packages = append(r.Packages, p)
	}
	if event.Test == "" {
		p.add(event, r.builds[event.FailedBuild])
		return
	}
	test := p.Test(event.Test)
	if test == nil {
		test = &Test{Name: event.Test}
		p.Tests = append(p.Tests, test)
	}
	test.add(event)
}

func (p *Package) add(event Event, build *strings.Builder) {
	switch event.Action {
	case "output":
		p.output.WriteString(event.Output)
	case "pass", "fail", "skip":
		p.Verdict = Verdict(event.Action)
		if event.FailedBuild != "" {
			p.Build = "it does not compile"
		}
		if build != nil {
			p.Build = strings.TrimSpace(build.String())
		}
	}
}

func (t *Test) add(event Event) {
	switch event.Action {
	case "output":
		t.output.WriteString(event.Output)
	case "pass", "fail", "skip":
		t.Verdict, t.Took = Verdict(event.Action), time.Duration(event.Elapsed*float64(time.Second))
	}
}

// Package returns a package of the run, or nil.
func (r *Report) Package(path string) *Package {
	for _, p := range r.Packages {
		if p.Path == path {
			return p
		}
	}
	return nil
}

// Test returns a test of the package, or nil if it was not run.
func (p *Package) Test(name string) *Test {
	for _, test := range p.Tests {
		if test.Name == name {
			return test
		}
	}
	return nil
}

// Covers says whether test is the test called name, or one of its subtests.
func Covers(name, test string) bool {
	return test == name || strings.HasPrefix(test, name+"/")
}

// Failures returns the tests that failed or did not end and of which no subtest did
// so: a test fails with each of its subtests, and that says nothing about it.
func (p *Package) Failures() []*Test {
	var failures []*Test
	for _, test := range p.Tests {
		if !test.bad() {
			continue
		}
		below := func(other *Test) bool { return other != test && other.bad() && Covers(test.Name, other.Name) }
		if !slices.ContainsFunc(p.Tests, below) {
			failures = append(failures, test)
		}
	}
	return failures
}

func (t *Test) bad() bool { return t.Verdict == Failed || t.Verdict == Unfinished }

// Output returns what the test called name printed, and then its subtests.
func (p *Package) Output(name string) string {
	var output strings.Builder
	for _, test := range p.Tests {
		if Covers(name, test.Name) {
			output.WriteString(test.output.String())
		}
	}
	return output.String()
}

// Outside returns what the package printed outside of its tests, without the lines
// that go test adds.
func (p *Package) Outside() string {
	var lines []string
	for line := range strings.Lines(p.output.String()) {
		if !verdictLine.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}

var verdictLine = regexp.MustCompile(`^(PASS|FAIL)(\s|$)|^(ok  |\?   )\t|^(coverage|testing: warning): |^exit status \d`)

// Panic returns the words of the panic that ended the package, or "". What was
// recovered and logged is none.
func (p *Package) Panic() string {
	if p.Verdict == Passed {
		return ""
	}
	for _, test := range p.Tests {
		if words := panicIn(test.output.String()); words != "" {
			return words
		}
	}
	return panicIn(p.output.String())
}

var panicked = regexp.MustCompile(`(?ms)^((?:panic|fatal error): [^\n]*)\n.*?^goroutine \d+ .*?\[`)

func panicIn(output string) string {
	match := panicked.FindStringSubmatch(output)
	if match == nil {
		return ""
	}
	return strings.TrimSuffix(match[1], " [recovered, repanicked]")
}
