package gotest

import (
	"fmt"
	"strings"
)

// Problems says what fails in a run where everything has to pass. Frames of a panic are
// shown if their path holds dir.
func (r *Report) Problems(dir string) []string {
	var problems []string
	for _, p := range r.Packages {
		if said := p.Broken(dir); said != "" {
			problems = append(problems, said)
			continue
		}
		for _, test := range p.Failures() {
			problems = append(problems, fmt.Sprintf("%s of %s fails:%s", test.Name, p.Place(), Quote(p.Output(test.Name), dir)))
		}
	}
	return problems
}

// Broken says how a package failed in another way than by a test that failed, or
// nothing.
func (p *Package) Broken(dir string) string {
	switch panicked := p.Panic(); {
	case p.Build != "":
		return fmt.Sprintf("%s does not compile:%s", p.Place(), Indent(strings.Split(p.Build, "\n")))
	case strings.HasPrefix(panicked, "panic: test timed out"):
		return fmt.Sprintf("%s hangs (%s):%s", p.Place(), panicked, p.running())
	case panicked != "":
		return fmt.Sprintf("%s ends in a panic (%s):%s", p.Place(), panicked, p.running())
	case p.Verdict != Passed && p.Verdict != Skipped && len(p.Failures()) == 0:
		return fmt.Sprintf("%s fails, though no test of it does:%s", p.Place(), Quote(p.Outside(), dir))
	}
	for _, test := range p.Failures() {
		if test.Verdict == Unfinished {
			return fmt.Sprintf("%s of %s ends its process:%s", test.Name, p.Place(), Quote(p.Output(test.Name)+p.Outside(), dir))
		}
	}
	return ""
}

// running names the tests that had begun when the process ended.
func (p *Package) running() string {
	var names []string
	for _, test := range p.Failures() {
		names = append(names, test.Name)
	}
	if len(names) == 0 {
		return " after its last test"
	}
	return " in " + strings.Join(names, ", ")
}

// Place is the path of the package, in words where it is only a dot.
func (p *Package) Place() string { return Place(p.Path) }

// Place is the path of a package, in words where it is only a dot.
func Place(path string) string {
	if path == "." {
		return "the top package"
	}
	return path
}

// Quote returns the most telling lines of an output, indented.
func Quote(output, dir string) string { return Indent(Excerpt(output, dir, 8)) }

// Indent puts lines below a sentence.
func Indent(lines []string) string {
	if len(lines) == 0 {
		return " (nothing)"
	}
	return "\n    " + strings.Join(lines, "\n    ")
}
