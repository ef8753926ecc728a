// Package exercise knows the exercises of the stages: what they ask, and which tests
// judge them. Its folders do something with them: practice is for those who learn,
// proof is for CI.
package exercise

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// An Exercise is a folder such as 04-informer-queue/lesson/exercises/tombstone.
type Exercise struct {
	Stage    repository.Stage
	Name     string
	Title    string
	Solution string
	Breaks   bool // it has a break.patch, as all but most tries have
	Judge    Judge
}

// These are the kinds of exercises.
const (
	Mend  = "mend"  // the patch breaks a few lines
	Build = "build" // the patch puts stubs in the place of code, and the learner writes it
	Try   = "try"   // the groups are what a lesson asks for on its way, a few lines each, one upon the other
)

// Judge is its judge.yaml.
type Judge struct {
	// Kind is what the learner does: Mend, Build or Try.
	Kind string `json:"kind"`
	// Level is how hard it is within its stage: 1, 2 or 3. Tries have none.
	Level int `json:"level"`
	// Lesson is the part of the stage whose lesson asks for the tries, such as queue; empty is
	// the lesson of the stage itself.
	Lesson string `json:"lesson"`
	// Minutes are what somebody needs who read the lesson. Those of tries are counted.
	Minutes int `json:"minutes"`
	// Read are the files to open first, from the stage's folder, such as first/main.go or
	// ../lab/README.md.
	Read []string `json:"read"`
	// Module is the folder of the module with the tests, from the stage's folder, such as tools
	// or ../lab; empty is the stage itself.
	Module string `json:"module"`
	// Write are the files with stubs, from the stage's folder, where the learner builds.
	Write []string `json:"write"`
	// Tests are exactly those that fail: of all groups, one group after the other.
	Tests []Test `json:"tests"`
	// Groups are in the order in which one writes. Of an exercise to mend it is one without
	// a name.
	Groups []Group `json:"groups"`
	// Besides are tests, each with its subtests, that take long, and need not be run to show that
	// the exercise is honest. Of them, only those in Tests are run with the patch.
	Besides []string `json:"besides"`
	// Keeps are tests in the same packages that pass from the start, and fail with a solution that
	// breaks something else. A check runs them with the last group.
	Keeps []Test `json:"keeps"`
	// Wrong are programs that the judge has to find out.
	Wrong []Wrong `json:"wrong"`
}

// A Group is the tests that begin to pass together.
type Group struct {
	Name  string   `json:"name"`
	Tests []Test   `json:"tests"`
	Hints []string `json:"-"`
	// These are of a try.
	Minutes int    `json:"minutes"`
	Hint    string `json:"hint"`
}

// Wrong is a program to build that is not right: the patch is on the code of the stage, and the
// test fails because of it.
type Wrong struct {
	Patch string `json:"patch"` // such as wrong/forgets.patch, from the exercise's folder
	Test  `json:",inline"`
}

// A Test is one that fails until the exercise is solved.
type Test struct {
	Package string `json:"package"` // such as ./first
	Test    string `json:"test"`    // such as TestTable, or TestTable/a_case for one subtest
	Output  string `json:"output"`  // what it prints when it fails, in part
	Because string `json:"because"` // what it asks, for the learner
}

// ID is the exercise's name among those of all stages, such as 4-tombstone.
func (e Exercise) ID() string { return fmt.Sprintf("%d-%s", e.Stage.Number, e.Name) }

// Folder is its path from the top of the repository, with slashes.
func (e Exercise) Folder() string { return path.Join(e.Stage.Folder, "lesson", "exercises", e.Name) }

// Path is that of a file that judge.yaml names, from the top of the repository.
func (e Exercise) Path(file string) string { return path.Join(e.Stage.Folder, file) }

// Module is the folder of the module with the tests, from the top of the repository.
func (e Exercise) Module() string { return e.Path(e.Judge.Module) }

// Folders are those of the code, from the top of the repository: the stage, and the module with
// the tests if that lies elsewhere.
func (e Exercise) Folders() []string {
	if filepath.IsLocal(path.Clean(e.Judge.Module)) {
		return []string{e.Stage.Folder}
	}
	return []string{e.Stage.Folder, e.Module()}
}

// Patch is the path of the patch that breaks the code, from the top of the repository.
func (e Exercise) Patch() string { return path.Join(e.Folder(), "break.patch") }

// Step is the path of the patch that writes the code of the n-th group, from the top of the
// repository.
func (e Exercise) Step(n int) string { return path.Join(e.Folder(), e.stepFile(n)) }

// WrongPatch is the path of the patch of a wrong program, from the top of the repository.
func (e Exercise) WrongPatch(w Wrong) string { return path.Join(e.Folder(), w.Patch) }

// stepFile is its path in the folder of the exercise. That of a try has its name.
func (e Exercise) stepFile(n int) string {
	if e.Judge.Kind == Try && n <= len(e.Judge.Groups) {
		return e.Judge.Groups[n-1].Name + ".patch"
	}
	return fmt.Sprintf("steps/%d.patch", n)
}

// Yaml is the path of its judge.yaml, from the top of the repository.
func (e Exercise) Yaml() string { return path.Join(e.Folder(), "judge.yaml") }

// Flags are what the go command needs to see the tests. Those of tries fail until somebody solves
// them, so they are in files that begin with //go:build try.
func (e Exercise) Flags() []string {
	if e.Judge.Kind == Try {
		return []string{"-tags=try"}
	}
	return nil
}

// StartCommand is what starts it.
func (e Exercise) StartCommand() string {
	return fmt.Sprintf("make exercise N=%d NAME=%s", e.Stage.Number, e.Name)
}

// Packages are those of the judging tests, each once.
func (e Exercise) Packages() []string { return Packages(e.Judge.Tests) }

// Packages are those of some tests, each once.
func Packages(tests []Test) []string {
	var packages []string
	for _, test := range tests {
		packages = append(packages, test.Package)
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// Pattern is the argument of go test -run for exactly these tests.
func Pattern(tests []Test) string {
	var alternatives []string
	for _, test := range tests {
		var elements []string
		for element := range strings.SplitSeq(test.Test, "/") {
			elements = append(elements, "^"+regexp.QuoteMeta(element)+"$")
		}
		alternatives = append(alternatives, strings.Join(elements, "/"))
	}
	return strings.Join(alternatives, "|")
}

// Function is the name of the function that has the test.
func (t Test) Function() string {
	function, _, _ := strings.Cut(t.Test, "/")
	return function
}

// Besides reports whether one of these is the name of the test, or of one that it's a part of.
func (t Test) Besides(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(t.Test+"/", name+"/") })
}

// Names returns the names of a stage's exercises.
func Names(r repository.Repository, stage repository.Stage) ([]string, error) {
	entries, err := os.ReadDir(r.Path(stage.Folder, "lesson", "exercises"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("looking for exercises: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Find returns the exercise called name of the stage called number. Its error names
// those that there are.
func Find(r repository.Repository, number, name string) (Exercise, error) {
	stage, err := r.Stage(number)
	if err != nil {
		return Exercise{}, err
	}
	names, err := Names(r, stage)
	if err != nil {
		return Exercise{}, err
	}
	if len(names) == 0 {
		return Exercise{}, fmt.Errorf("stage %d has no exercises here", stage.Number)
	}
	if !slices.Contains(names, name) {
		return Exercise{}, fmt.Errorf("stage %d has no exercise %q; it has: %s", stage.Number, name, strings.Join(names, ", "))
	}
	e, err := Load(r, stage, name)
	if err != nil {
		return Exercise{}, fmt.Errorf("%s is not complete: %w", filepath.FromSlash(e.Folder()), err)
	}
	return e, nil
}

// Key is its name in the tracks, such as 04-informer-queue/tombstone.
func (e Exercise) Key() string { return path.Join(e.Stage.Folder, e.Name) }

// sortBy puts exercises into the order of the tracks. Those that are in none come last.
func sortBy(order func(name string) int, exercises []Exercise) {
	place := func(e Exercise) int { return cmp.Or(order(e.Key()), math.MaxInt) }
	slices.SortStableFunc(exercises, func(a, b Exercise) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Stage.Number, b.Stage.Number), cmp.Compare(a.Judge.Level, b.Judge.Level))
	})
}

// All returns the exercises of all stages, in the order of the tracks. Those that are not complete are
// left out; for each there is a sentence.
func All(r repository.Repository) (exercises []Exercise, incomplete []string, err error) {
	stages, err := r.Stages()
	if err != nil {
		return nil, nil, err
	}
	for _, stage := range stages {
		names, err := Names(r, stage)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			e, err := Load(r, stage, name)
			if err != nil {
				incomplete = append(incomplete, fmt.Sprintf("%s is not complete: %v", e.Folder(), err))
				continue
			}
			exercises = append(exercises, e)
		}
	}
	curriculum, err := track.Load(r)
	if err != nil {
		return nil, nil, err
	}
	sortBy(curriculum.Order(track.Exercise), exercises)
	return exercises, incomplete, nil
}
