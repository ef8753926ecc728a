package exercise

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

var stage = repository.Stage{Number: 1, Folder: "01-sums"}

func TestAnExerciseIsItsFolder(t *testing.T) {
	r := exercisetest.New(t)
	e, err := Find(r, "01", "lost")
	require.NoError(t, err)
	assert.Equal(t, "1-lost", e.ID())
	assert.Equal(t, "01-sums/lesson/exercises/lost/break.patch", e.Patch())
	assert.Equal(t, "make exercise N=1 NAME=lost", e.StartCommand())
	assert.Equal(t, "Something is lost", e.Title)
	assert.Equal(t, "# It was total = n\n\nIt has to be total += n.", e.Solution)
	tests := []Test{{"./sum", "TestSum/of_two", "the sum is 2, not 3", "The code has to be right."}}
	assert.Equal(t, Judge{
		Kind: Mend, Level: 1, Minutes: 5, Read: []string{"sum/sum.go"}, Tests: tests,
		Groups: []Group{{Tests: tests, Hints: []string{"Look at sum/sum.go.", "```sh\n## no heading\n```"}}},
	}, e.Judge)
	assert.Equal(t, []string{"./sum"}, e.Packages())
}

func TestWhatIsNotThereIsAnsweredWithWhatIs(t *testing.T) {
	r := exercisetest.New(t)
	_, err := Find(r, "1", "last")
	require.EqualError(t, err, `stage 1 has no exercise "last"; it has: lost, silent, smallest`)
	_, err = Find(r, "1", "../../tools")
	require.ErrorContains(t, err, "stage 1 has no exercise")
	_, err = Find(r, "2", "lost")
	require.ErrorContains(t, err, "there is no stage 2 here; there is: 1")
	require.NoError(t, os.RemoveAll(r.Path("01-sums", "lesson", "exercises")))
	_, err = Find(r, "1", "lost")
	require.EqualError(t, err, "stage 1 has no exercises here")
}

func TestAnExerciseToBuildHasGroups(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.AddBuild(t, r)
	e, err := Find(r, "1", "build")
	require.NoError(t, err)
	require.Len(t, e.Judge.Groups, 2)
	assert.Equal(t, "The sum", e.Judge.Groups[0].Name)
	assert.Equal(t, []string{"Begin with 0.", "Add each."}, e.Judge.Groups[0].Hints)
	assert.Equal(t, []Test{e.Judge.Groups[0].Tests[0], e.Judge.Groups[1].Tests[0]}, e.Judge.Tests)
	assert.Equal(t, "01-sums/lesson/exercises/build/steps/2.patch", e.Step(2))

	folder := r.Path("01-sums", "lesson", "exercises", "build")
	for name, test := range map[string]struct{ file, old, replacement, want string }{
		"another kind":                   {"judge.yaml", "kind: build", "kind: guess", `kind is "guess", it can be mend, build or try`},
		"no kind":                        {"judge.yaml", "kind: build", "", "groups, write and wrong are for an exercise of kind: build"},
		"no file":                        {"judge.yaml", "write: [sum/sum.go]", "", "does not say in which files to write"},
		"a file that's not":              {"judge.yaml", "[sum/sum.go]", "[sum/none.go]", "write: there is no 01-sums/sum/none.go in the repository"},
		"a file with the judge's tests":  {"judge.yaml", "[sum/sum.go]", "[sum/sum_test.go]", `there is no test "TestSum" in ./sum`},
		"no name":                        {"judge.yaml", "name: The sum", "name: ''", `the group "" needs a name, and tests`},
		"hints of no group":              {"hints.md", "## The sum", "## The total", `hints.md has "## The total", but its sections are the groups`},
		"no hints":                       {"hints.md", "## The largest", "", "hints.md has no ## The largest"},
		"no Hint 2":                      {"hints.md", "### Hint 2\n\nCompare.\n", "", "hints.md: The largest has 1 hints, at least two are needed (### Hint 1, ### Hint 2)"},
		"no wrong program":               {"judge.yaml", "wrong/smallest.patch", "wrong/none.patch", `wrong: there is nothing in "wrong/none.patch"`},
		"a wrong program elsewhere":      {"judge.yaml", "wrong/smallest.patch", "../lost/break.patch", `wrong: there is nothing in "../lost/break.patch"`},
		"a wrong program without a test": {"judge.yaml", "test: TestMax, output: \"the largest is 1", "test: TestMin, output: \"the largest is 1", `there is no test "TestMin" in ./sum`},
		"besides it none":                {"judge.yaml", "groups:\n", "besides: [TestNone]\ngroups:\n", `besides: there is no test "TestNone" in the packages of the tests`},
		"it keeps what isn't run":        {"judge.yaml", "groups:\n", "besides: [TestMax]\nkeeps: [{package: ./sum, test: TestMax, because: y}]\ngroups:\n", `keeps: "TestMax" isn't run with the patch`},
		"it keeps none":                  {"judge.yaml", "groups:\n", "keeps: [{package: ./sum, test: TestNone, because: y}]\ngroups:\n", `there is no test "TestNone" in ./sum`},
		"no group":                       {"judge.yaml", "groups:\n", "tests: [{package: ./sum, test: TestSum, output: x, because: y}]\ngroups:\n", "the tests of an exercise to build stand in groups"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, test.file)
			before := repositorytest.Read(t, path)
			exercisetest.Edit(t, path, test.old, test.replacement)
			defer repositorytest.Write(t, path, before)
			_, err := Load(r, stage, "build")
			require.ErrorContains(t, err, test.want)
		})
	}
	repositorytest.Write(t, filepath.Join(folder, "steps", "3.patch"), "x\n")
	require.NoError(t, os.Remove(filepath.Join(folder, "steps", "1.patch")))
	_, err = Load(r, stage, "build")
	require.EqualError(t, err, `steps/1.patch has nothing in it: it is what writes the code of "The sum"; steps/3.patch is of no group`)
}

func TestTheCodeOfAnExerciseMayLieBesideItsStage(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.AddBeside(t, r)
	e, err := Find(r, "1", "beside")
	require.NoError(t, err)
	assert.Equal(t, "lab", e.Module())
	assert.Equal(t, []string{"01-sums", "lab"}, e.Folders())
	assert.Equal(t, "lab/count/count.go", e.Path(e.Judge.Read[0]))
	e.Judge.Module = "tools"
	assert.Equal(t, []string{"01-sums"}, e.Folders(), "a module below the stage")
}

func TestThePatternIsExactlyTheTests(t *testing.T) {
	assert.Equal(t, `^TestX$|^TestTable$/^a_\(b\)$/^c$`, Pattern([]Test{{Test: "TestX"}, {Test: "TestTable/a_(b)/c"}}))
}

func TestExercisesAreInOrderOfTheirLevel(t *testing.T) {
	r := exercisetest.New(t)
	require.NoError(t, os.Remove(r.Path("01-sums", "lesson", "exercises", "smallest", "hints.md")))
	all, incomplete, err := All(r)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, "lost", all[0].Name)
	assert.Equal(t, "silent", all[1].Name)
	assert.Equal(t, []string{"01-sums/lesson/exercises/smallest is not complete: hints.md has 0 hints, at least two are needed (## Hint 1, ## Hint 2)"}, incomplete)
}

func TestEachFileIsChecked(t *testing.T) {
	r := exercisetest.New(t)
	outside := "../../" + filepath.Base(r.Root) + "/01-sums" // the stage, by a way out of the repository
	const judge = "level: 1\nminutes: 5\nread: [sum/sum.go]\ntests:\n  - {package: ./sum, test: TestSum, output: x, because: y}\n"
	for name, test := range map[string]struct{ file, content, want string }{
		"no title":               {"README.md", "make exercise N=1 NAME=lost", "README.md has no title"},
		"another exercise":       {"README.md", "# T\n\nmake exercise N=1 NAME=last", "README.md does not say how to start it: make exercise N=1 NAME=lost"},
		"one hint":               {"hints.md", "## Hint 1\n\nx\n", "hints.md has 1 hints, at least two are needed"},
		"hints out of order":     {"hints.md", "## Hint 1\nx\n## Hint 3\ny\n", `hints.md has "## Hint 3" where "## Hint 2" should be`},
		"an empty hint":          {"hints.md", "## Hint 1\n\n## Hint 2\ny\n", "hints.md says nothing under ## Hint 1"},
		"no solution":            {"solution.md", "", "solution.md has no title"},
		"no patch":               {"break.patch", "", "break.patch has nothing in it"},
		"a field that is not":    {"judge.yaml", judge + "lvl: 1\n", `judge.yaml cannot be read: json: unknown field "lvl"`},
		"a field of a test":      {"judge.yaml", "tests: [{name: x}]\n", `judge.yaml cannot be read: json: unknown field "name"`},
		"no yaml":                {"judge.yaml", "level: [", "judge.yaml cannot be read"},
		"nothing in it":          {"judge.yaml", "", "judge.yaml names no test"},
		"a level too high":       {"judge.yaml", "level: 4", "level is 4, it can be 1, 2 or 3"},
		"no minutes":             {"judge.yaml", "level: 1", "does not say how many minutes"},
		"nothing to read":        {"judge.yaml", "level: 1", "does not say what to read"},
		"a file that is not":     {"judge.yaml", "read: [sum/none.go]", "there is no 01-sums/sum/none.go in the repository"},
		"a file elsewhere":       {"judge.yaml", "read: ['" + outside + "/sum/sum.go']", "there is no " + outside[3:] + "/sum/sum.go in the repository"},
		"a module elsewhere":     {"judge.yaml", "module: '" + outside + "'\nlevel: 1\n", `there is no module "` + outside[3:] + `" in the repository`},
		"a test that is not":     {"judge.yaml", "tests: [{package: ./sum, test: TestSu}]", `there is no test "TestSu" in ./sum`},
		"a test without a name":  {"judge.yaml", "tests: [{package: ./sum}]", `there is no test "" in ./sum`},
		"a package that is not":  {"judge.yaml", "tests: [{package: ./none, test: TestSum}]", `there is no test "TestSum" in ./none`},
		"a package without a ./": {"judge.yaml", "tests: [{package: sum, test: TestSum}]", `package is "sum", write it like ./first`},
		"a package elsewhere":    {"judge.yaml", "tests: [{package: ./../sum, test: TestSum}]", `package is "./../sum", write it like ./first`},
		"no output":              {"judge.yaml", "tests: [{package: ./sum, test: TestSum}]", `"TestSum" has no output`},
		"no because":             {"judge.yaml", "tests: [{package: ./sum, test: TestSum}]", `"TestSum" has no because`},
	} {
		t.Run(name, func(t *testing.T) {
			path := r.Path("01-sums", "lesson", "exercises", "lost", test.file)
			before := repositorytest.Read(t, path)
			repositorytest.Write(t, path, test.content)
			defer repositorytest.Write(t, path, before)
			_, err := Load(r, stage, "lost")
			require.ErrorContains(t, err, test.want)
		})
	}
}
