package exercise

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// Problems are what is wrong with the files of an exercise, a sentence each.
type Problems []string

// Error returns all of them.
func (p Problems) Error() string { return strings.Join(p, "; ") }

// Load reads an exercise. Its error is Problems, and the exercise is then what could
// be read.
func Load(r repository.Repository, stage repository.Stage, name string) (Exercise, error) {
	l := loader{
		Exercise: Exercise{Stage: stage, Name: name},
		module:   r.Path(stage.Folder),
		dir:      r.Path(stage.Folder, "lesson", "exercises", name),
	}
	l.readTask()
	l.readHints()
	l.readSolution()
	l.readJudge()
	if l.read("break.patch") == "" {
		l.wrong("break.patch has nothing in it: it is what breaks the code")
	}
	if len(l.problems) > 0 {
		return l.Exercise, l.problems
	}
	return l.Exercise, nil
}

type loader struct {
	Exercise
	module, dir string
	problems    Problems
}

func (l *loader) wrong(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

func (l *loader) read(name string) string {
	content, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil && !os.IsNotExist(err) {
		l.wrong("%s cannot be read: %v", name, err)
	}
	return string(content)
}

func (l *loader) readTask() {
	task := l.read("README.md")
	if l.Title = markdown.Parse(task).Title; l.Title == "" {
		l.wrong("README.md has no title (# What somebody sees)")
	}
	if !strings.Contains(task, l.StartCommand()) {
		l.wrong("README.md does not say how to start it: %s", l.StartCommand())
	}
}

func (l *loader) readSolution() {
	l.Solution = strings.TrimSpace(l.read("solution.md"))
	if markdown.Parse(l.Solution).Title == "" {
		l.wrong("solution.md has no title (# What was wrong)")
	}
}

// readHints cuts hints.md at its headings.
func (l *loader) readHints() {
	for i, section := range markdown.Parse(l.read("hints.md")).Sections {
		want := fmt.Sprintf("Hint %d", i+1)
		if section.Heading != want {
			l.wrong("hints.md has %q where %q should be", "## "+section.Heading, "## "+want)
		}
		hint := strings.TrimSpace(section.Text)
		if hint == "" {
			l.wrong("hints.md says nothing under ## %s", want)
		}
		l.Hints = append(l.Hints, hint)
	}
	if len(l.Hints) < 2 {
		l.wrong("hints.md has %d hints, at least two are needed (## Hint 1, ## Hint 2)", len(l.Hints))
	}
}

func (l *loader) readJudge() {
	judge := &l.Judge
	if err := yaml.UnmarshalStrict([]byte(l.read("judge.yaml")), judge); err != nil {
		text := strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: ")
		l.wrong("judge.yaml cannot be read: %s", strings.Join(strings.Fields(text), " "))
		return
	}
	if judge.Level < 1 || judge.Level > 3 {
		l.wrong("judge.yaml: level is %d, it can be 1, 2 or 3", judge.Level)
	}
	if judge.Minutes < 1 {
		l.wrong("judge.yaml does not say how many minutes it takes")
	}
	if len(judge.Read) == 0 {
		l.wrong("judge.yaml does not say what to read")
	}
	for _, file := range judge.Read {
		if _, err := os.Stat(filepath.Join(l.module, file)); err != nil || !filepath.IsLocal(file) {
			l.wrong("judge.yaml: read: there is no %s in %s", file, l.Stage.Folder)
		}
	}
	if _, err := os.Stat(filepath.Join(l.module, judge.Module, "go.mod")); err != nil || judge.Module != "" && !filepath.IsLocal(judge.Module) {
		l.wrong("judge.yaml: there is no module %q in %s", judge.Module, l.Stage.Folder)
	}
	if len(judge.Tests) == 0 {
		l.wrong("judge.yaml names no test: there is nothing to judge by")
	}
	for _, test := range judge.Tests {
		l.checkTest(test)
	}
}

func (l *loader) checkTest(test Test) {
	if test.Output == "" {
		l.wrong("judge.yaml: %q has no output: a test can fail for the wrong reason", test.Test)
	}
	if test.Because == "" {
		l.wrong("judge.yaml: %q has no because: the learner is told nothing", test.Test)
	}
	clean := path.Clean(test.Package)
	if !filepath.IsLocal(clean) || (test.Package != "." && test.Package != "./"+clean) {
		l.wrong("judge.yaml: package is %q, write it like ./podlog", test.Package)
		return
	}
	files, _ := filepath.Glob(filepath.Join(l.module, l.Judge.Module, clean, "*_test.go"))
	function, _, _ := strings.Cut(test.Test, "/")
	declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(function) + `\(\w+ \*testing\.T\)`)
	for _, file := range files {
		if content, err := os.ReadFile(file); err == nil && declared.Match(content) {
			return
		}
	}
	l.wrong("judge.yaml: there is no test %q in %s", function, test.Package)
}
