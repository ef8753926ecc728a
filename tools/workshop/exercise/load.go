package exercise

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
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
		Exercise:   Exercise{Stage: stage, Name: name},
		repository: r,
		dir:        r.Path(stage.Folder, "lesson", "exercises", name),
	}
	l.readJudge()
	l.Breaks = l.read("break.patch") != ""
	if l.Judge.Kind == Try {
		l.readTries()
		l.checkSteps()
		return l.done()
	}
	l.readTask()
	l.readSolution()
	l.readHints()
	if !l.Breaks {
		l.wrong("break.patch has nothing in it: it is what breaks the code")
	}
	if l.Judge.Kind == Build {
		l.checkSteps()
	}
	return l.done()
}

func (l *loader) done() (Exercise, error) {
	if len(l.problems) > 0 {
		return l.Exercise, l.problems
	}
	return l.Exercise, nil
}

type loader struct {
	Exercise
	repository repository.Repository
	dir        string
	problems   Problems
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

// readHints cuts hints.md at its headings, and those of an exercise to build at the names of
// its groups first.
func (l *loader) readHints() {
	sections := markdown.Parse(l.read("hints.md")).Sections
	groups := l.Judge.Groups
	if l.Judge.Kind != Build {
		if len(groups) == 1 {
			groups[0].Hints = l.hints("##", "hints.md", sections)
		}
		return
	}
	for i, section := range sections {
		if i >= len(groups) || section.Heading != groups[i].Name {
			l.wrong("hints.md has %q, but its sections are the groups of judge.yaml in their order", "## "+section.Heading)
			return
		}
		groups[i].Hints = l.hints("###", "hints.md: "+section.Heading, markdown.Subsections(section.Text))
	}
	if len(sections) < len(groups) {
		l.wrong("hints.md has no ## %s", groups[len(sections)].Name)
	}
}

func (l *loader) hints(level, where string, sections []markdown.Section) []string {
	var hints []string
	for i, section := range sections {
		want := fmt.Sprintf("Hint %d", i+1)
		if section.Heading != want {
			l.wrong("%s has %q where %q should be", where, level+" "+section.Heading, level+" "+want)
		}
		hint := strings.TrimSpace(section.Text)
		if hint == "" {
			l.wrong("%s says nothing under %s %s", where, level, want)
		}
		hints = append(hints, hint)
	}
	if len(hints) < 2 {
		l.wrong("%s has %d hints, at least two are needed (%s Hint 1, %s Hint 2)", where, len(hints), level, level)
	}
	return hints
}

func (l *loader) readJudge() {
	judge := &l.Judge
	content := []byte(l.read("judge.yaml"))
	if err := yaml.UnmarshalStrict(content, judge); err != nil {
		text := strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: ")
		l.wrong("judge.yaml cannot be read: %s", strings.Join(strings.Fields(text), " "))
		*judge = Judge{}
		if yaml.Unmarshal(content, judge) != nil { // or it's a copy of another version, with a field that this one doesn't know
			return
		}
	}
	if judge.Kind != Try {
		l.checkScale()
	}
	l.checkFiles("read", judge.Read)
	if !l.has(path.Join(l.Module(), "go.mod")) {
		l.wrong("judge.yaml: there is no module %q in the repository", l.Module())
	}
	l.readGroups()
	if len(judge.Tests) == 0 {
		l.wrong("judge.yaml names no test: there is nothing to judge by")
	}
	for _, test := range judge.Tests {
		l.checkTest(test)
	}
	for _, name := range judge.Besides {
		function := Test{Test: name}.Function()
		if !slices.ContainsFunc(l.Packages(), func(pkg string) bool { return l.declares(pkg, function) }) {
			l.wrong("judge.yaml: besides: there is no test %q in the packages of the tests", function)
		}
	}
	for _, test := range judge.Keeps {
		l.checkKept(test)
	}
	for _, wrong := range judge.Wrong {
		if !filepath.IsLocal(wrong.Patch) || l.read(wrong.Patch) == "" {
			l.wrong("judge.yaml: wrong: there is nothing in %q", wrong.Patch)
		}
		l.checkTest(wrong.Test)
	}
}

// checkScale wants an exercise to say how hard it is, how long it takes, and where one begins.
func (l *loader) checkScale() {
	if level := l.Judge.Level; level < 1 || level > 3 {
		l.wrong("judge.yaml: level is %d, it can be 1, 2 or 3", level)
	}
	if l.Judge.Minutes < 1 {
		l.wrong("judge.yaml does not say how many minutes it takes")
	}
	if len(l.Judge.Read) == 0 {
		l.wrong("judge.yaml does not say what to read")
	}
}

// readGroups makes the groups of each kind, and the tests of all of them.
func (l *loader) readGroups() {
	judge := &l.Judge
	switch judge.Kind {
	case "", Mend:
		judge.Kind = Mend
		if len(judge.Groups)+len(judge.Write)+len(judge.Wrong) > 0 {
			l.wrong("judge.yaml: groups, write and wrong are for an exercise of kind: build")
		}
		judge.Groups = []Group{{Tests: judge.Tests}}
	case Build, Try:
		if len(judge.Tests) > 0 {
			l.wrong("judge.yaml: the tests of an exercise to %s stand in groups", judge.Kind)
		}
		judge.Tests = nil
		for _, group := range judge.Groups {
			if group.Name == "" || len(group.Tests) == 0 {
				l.wrong("judge.yaml: the group %q needs a name, and tests", group.Name)
			}
			judge.Tests = append(judge.Tests, group.Tests...)
		}
		if len(judge.Write) == 0 {
			l.wrong("judge.yaml does not say in which files to write")
		}
		l.checkFiles("write", judge.Write)
	default:
		l.wrong("judge.yaml: kind is %q, it can be %s, %s or %s", judge.Kind, Mend, Build, Try)
	}
}

func (l *loader) checkFiles(field string, files []string) {
	for _, file := range files {
		if !l.has(l.Path(file)) {
			l.wrong("judge.yaml: %s: there is no %s in the repository", field, l.Path(file))
		}
	}
}

// has reports whether the repository has a file. What lies outside of it is none of its files.
func (l *loader) has(file string) bool {
	_, err := os.Stat(l.repository.Path(file))
	return err == nil && filepath.IsLocal(file)
}

// checkSteps wants a step for each group.
func (l *loader) checkSteps() {
	for i, group := range l.Judge.Groups {
		if l.read(l.stepFile(i+1)) == "" {
			l.wrong("%s has nothing in it: it is what writes the code of %q", l.stepFile(i+1), group.Name)
		}
	}
	if more := l.stepFile(len(l.Judge.Groups) + 1); l.read(more) != "" {
		l.wrong("%s is of no group", more)
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
		l.wrong("judge.yaml: package is %q, write it like ./first", test.Package)
		return
	}
	if !l.declares(test.Package, test.Function()) {
		l.wrong("judge.yaml: there is no test %q in %s", test.Function(), test.Package)
	}
}

// checkKept wants the proof to have run the test with the patch: there it must not fail.
func (l *loader) checkKept(test Test) {
	if !slices.Contains(l.Packages(), test.Package) || test.Besides(l.Judge.Besides) {
		l.wrong("judge.yaml: keeps: %q isn't run with the patch: it has to be in a package of the tests, and not under besides", test.Test)
	}
	test.Output = "nothing: it passes"
	l.checkTest(test)
}

// declares reports whether a package has a test. What the learner writes is none of the judge's.
func (l *loader) declares(pkg, function string) bool {
	folder := os.DirFS(l.repository.Path(l.Module(), pkg))
	files, _ := fs.Glob(folder, "*_test.go")
	declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(function) + `\(\w+ \*testing\.T\)`)
	return slices.ContainsFunc(files, func(file string) bool {
		isLearners := func(written string) bool { return path.Join(l.Module(), pkg, file) == l.Path(written) }
		content, err := fs.ReadFile(folder, file)
		return err == nil && declared.Match(content) && !slices.ContainsFunc(l.Judge.Write, isLearners)
	})
}
