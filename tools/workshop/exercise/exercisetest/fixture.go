// Package exercisetest makes a small repository with exercises, for tests.
package exercisetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
	"example.com/hacking-a-controller/tools/workshop/testenv"
)

// Timeout is how long a test waits for what has to come. To wait long costs nothing when it comes.
var Timeout = testenv.Timeout()

// files are those of the repository: one stage that needs nothing but Go.
var files = map[string]string{
	".gitignore":     "/.workshop/\n/lab/bin/\n",
	".gitattributes": "* text=auto eol=lf\n",
	"tools/go.mod":   "module example.com/workshop\n",
	"01-sums/go.mod": "module example.com/sums\n\ngo 1.26.0\n",
	"01-sums/sum/sum.go": `// Package sum adds.
package sum

// Sum adds numbers.
func Sum(numbers ...int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}

// Max returns the largest number.
func Max(numbers ...int) int {
	largest := numbers[0]
	for _, n := range numbers {
		if n > largest {
			largest = n
		}
	}
	return largest
}
`,
	"01-sums/sum/sum_test.go": `package sum

import "testing"

func TestSum(t *testing.T) {
	for i, numbers := range [][]int{{}, {3}, {1, 2}} {
		t.Run([]string{"of none", "of one", "of two"}[i], func(t *testing.T) {
			want := 3
			if len(numbers) == 0 {
				want = 0
			}
			if got := Sum(numbers...); got != want {
				t.Errorf("the sum is %d, not %d", got, want)
			}
		})
	}
}

func TestMax(t *testing.T) {
	if got := Max(1, 3, 2); got != 3 {
		t.Errorf("the largest is %d, not 3", got)
	}
}
`,
	"01-sums/words/words.go": `// Package words joins.
package words

import "strings"

// Join puts commas between words.
func Join(words ...string) string {
	return strings.Join(words, ", ")
}
`,
	"01-sums/words/words_test.go": `package words

import "testing"

func TestJoin(t *testing.T) {
	if got := Join("a", "b"); got != "a, b" {
		t.Errorf("joined they are %q", got)
	}
}
`,
	// This is never run.
	"01-sums/e2e/e2e_test.go": "package e2e\n\nimport \"testing\"\n\nfunc TestAll(t *testing.T) { t.Error(\"there is no lab\") }\n",
}

// New makes the repository, with three honest exercises and one commit.
func New(t testing.TB) repository.Repository {
	t.Helper()
	r := repositorytest.New(t, files)
	Add(t, r, Exercise{
		Name: "lost", Level: 1, File: "sum/sum.go", Old: "total += n", New: "total = n",
		Package: "./sum", Test: "TestSum/of_two", Output: "the sum is 2, not 3",
	})
	Add(t, r, Exercise{
		Name: "smallest", Level: 2, File: "sum/sum.go", Old: "n > largest", New: "n < largest",
		Package: "./sum", Test: "TestMax", Output: "the largest is 1, not 3",
	})
	Add(t, r, Exercise{
		Name: "silent", Level: 3, File: "words/words.go", Old: `", "`, New: `" "`,
		Package: "./words", Test: "TestJoin", Output: `joined they are "a b"`,
	})
	return r
}

// An Exercise is one to add: Old becomes New in the file, which is named from the stage's folder,
// and the test of the module fails.
type Exercise struct {
	Name, Module, File, Old, New, Package, Test, Output string
	Level                                               int
}

// Add adds an exercise to the stage, and commits it. The tree must be clean.
func Add(t testing.TB, r repository.Repository, e Exercise) {
	t.Helper()
	Edit(t, r.Path("01-sums", e.File), e.Old, e.New)
	patch := repositorytest.Git(t, r, "diff")
	repositorytest.Git(t, r, "checkout", "--quiet", ".")
	for name, content := range map[string]string{
		"break.patch": patch + "\n",
		"README.md":   fmt.Sprintf("# Something is %s\n\n```sh\nmake exercise N=1 NAME=%s\n```\n", e.Name, e.Name),
		"hints.md":    "## Hint 1\n\nLook at " + e.File + ".\n\n## Hint 2\n\n```sh\n## no heading\n```\n",
		"solution.md": "# It was " + e.New + "\n\nIt has to be " + e.Old + ".\n",
		"judge.yaml": fmt.Sprintf("level: %d\nminutes: 5\nmodule: %q\nread: [%s]\ntests:\n  - package: %s\n    test: %s\n    output: %q\n    because: The code has to be right.\n",
			e.Level, e.Module, e.File, e.Package, e.Test, e.Output),
	} {
		repositorytest.Write(t, r.Path("01-sums", "lesson", "exercises", e.Name, name), content)
	}
	require.NoError(t, r.Commit(t.Context(), "exercise "+e.Name))
}

// AddBeside adds an exercise called beside, whose code is in lab, a module beside the stage, and
// commits it. The tree must be clean.
func AddBeside(t testing.TB, r repository.Repository) {
	t.Helper()
	for name, content := range map[string]string{
		"go.mod":         "module example.com/lab\n\ngo 1.26.0\n",
		"count/count.go": "// Package count has a number.\npackage count\n\n// Ten is a number.\nconst Ten = 10\n",
		"count/count_test.go": "package count\n\nimport \"testing\"\n\n" +
			"func TestTen(t *testing.T) {\n\tif Ten != 10 {\n\t\tt.Error(\"it is\", Ten)\n\t}\n}\n",
	} {
		repositorytest.Write(t, r.Path("lab", name), content)
	}
	require.NoError(t, r.Commit(t.Context(), "a lab"))
	Add(t, r, Exercise{
		Name: "beside", Level: 1, Module: "../lab", File: "../lab/count/count.go", Old: "= 10", New: "= 11",
		Package: "./count", Test: "TestTen", Output: "it is 11",
	})
}

// AddBuild adds an exercise to build, called build, with two groups and a wrong program, and
// commits it. The tree must be clean.
func AddBuild(t testing.TB, r repository.Repository) {
	t.Helper()
	const path = "01-sums/sum/sum.go"
	solution := repositorytest.Read(t, r.Path(path))
	_, maximum, _ := strings.Cut(solution, "// Max")
	sum, _, _ := strings.Cut(solution, "// Max")
	const sumStub = "// Package sum adds.\npackage sum\n\n// Sum adds numbers.\nfunc Sum(numbers ...int) int { return 0 }\n\n"
	const maximumStub = "// Max returns the largest number.\nfunc Max(numbers ...int) int { return 0 }\n"
	folder := "01-sums/lesson/exercises/build/"
	for _, patch := range []struct{ name, becomes string }{
		{"break.patch", sumStub + maximumStub},
		{"steps/1.patch", sum + maximumStub},
		{"steps/2.patch", sum + "// Max" + maximum},
	} {
		repositorytest.Write(t, r.Path(path), patch.becomes)
		repositorytest.Write(t, r.Path(folder+patch.name), repositorytest.Git(t, r, "diff", "--", path)+"\n")
		repositorytest.Git(t, r, "add", path)
	}
	Edit(t, r.Path(path), "n > largest", "n < largest")
	repositorytest.Write(t, r.Path(folder+"wrong/smallest.patch"), repositorytest.Git(t, r, "diff", "--", path)+"\n")
	repositorytest.Git(t, r, "checkout", "--quiet", path)
	for name, content := range map[string]string{
		"README.md":   "# Write a sum\n\n```sh\nmake exercise N=1 NAME=build\n```\n",
		"hints.md":    "## The sum\n\n### Hint 1\n\nBegin with 0.\n\n### Hint 2\n\nAdd each.\n\n## The largest\n\n### Hint 1\n\nBegin with the first.\n\n### Hint 2\n\nCompare.\n",
		"solution.md": "# A loop each\n\nEach number is looked at once.\n",
		"judge.yaml": `kind: build
level: 2
minutes: 5
read: [sum/sum_test.go]
write: [sum/sum.go]
groups:
- name: The sum
  tests:
  - {package: ./sum, test: TestSum, output: "the sum is 0, not 3", because: A sum is of all numbers.}
- name: The largest
  tests:
  - {package: ./sum, test: TestMax, output: "the largest is 0, not 3", because: The largest is one of them.}
wrong:
- {patch: wrong/smallest.patch, package: ./sum, test: TestMax, output: "the largest is 1, not 3", because: It is the smallest.}
`,
	} {
		repositorytest.Write(t, r.Path(folder+name), content)
	}
	require.NoError(t, r.Commit(t.Context(), "exercise build"))
}

// Edit replaces the one place in a file where old stands.
func Edit(t testing.TB, path, old, replacement string) {
	t.Helper()
	content := repositorytest.Read(t, path)
	require.Equal(t, 1, strings.Count(content, old), "%s in %s", old, path)
	repositorytest.Write(t, path, strings.Replace(content, old, replacement, 1))
}

// NeedLab lets the test of the exercise called lost need the lab, which is built by a recipe, and
// commits that. The tree must be clean.
func NeedLab(t testing.TB, r repository.Repository, recipe string) {
	t.Helper()
	tests := r.Path("01-sums", "sum", "sum_test.go")
	Edit(t, tests, `import "testing"`, "import (\n\t\"os\"\n\t\"testing\"\n)")
	Edit(t, tests, "func TestSum(t *testing.T) {\n", `func TestSum(t *testing.T) {
	if _, err := os.Stat(os.Getenv("KUBEBUILDER_ASSETS") + "/kube-apiserver"); err != nil {
		t.Fatal(err)
	}
`)
	repositorytest.Write(t, r.Path("Makefile"), "lab:\n\t@"+recipe+"\n")
	require.NoError(t, r.Commit(t.Context(), "a test that needs the lab"))
}

// AddTries adds an exercise with two tries, called tries, and commits it. The tree must be clean.
func AddTries(t testing.TB, r repository.Repository) {
	t.Helper()
	const path, folder = "01-sums/sum/sum.go", "01-sums/lesson/exercises/tries/"
	for _, try := range []struct{ name, old, replacement string }{
		{"none", "\tlargest := numbers[0]\n", "\tif len(numbers) == 0 {\n\t\treturn 0\n\t}\n\tlargest := numbers[0]\n"},
		{"twice", "\t\ttotal += n\n", "\t\ttotal += 2 * n\n"},
	} {
		Edit(t, r.Path(path), try.old, try.replacement)
		repositorytest.Write(t, r.Path(folder+try.name+".patch"), repositorytest.Git(t, r, "diff", "--", path)+"\n")
		repositorytest.Git(t, r, "add", path)
	}
	repositorytest.Git(t, r, "checkout", "--quiet", "HEAD", "--", path)
	repositorytest.Write(t, r.Path("01-sums/sum/try_test.go"), `//go:build try

package sum

import "testing"

func TestTryNone(t *testing.T) {
	defer func() {
		if reason := recover(); reason != nil {
			t.Error("Max() panics:", reason)
		}
	}()
	Max()
}

func TestTryTwice(t *testing.T) {
	if got := Sum(1, 2); got != 6 {
		t.Errorf("twice the sum is %d, not 6", got)
	}
}
`)
	repositorytest.Write(t, r.Path(folder+"judge.yaml"), `kind: try
write: [sum/sum.go]
groups:
- name: none
  minutes: 2
  hint: There is no numbers[0].
  tests:
  - {package: ./sum, test: TestTryNone, output: "Max() panics", because: Of no number the largest is 0.}
- name: twice
  minutes: 1
  hint: Add each twice.
  tests:
  - {package: ./sum, test: TestTryTwice, output: "twice the sum is 3, not 6", because: Each number counts twice.}
`)
	require.NoError(t, r.Commit(t.Context(), "exercise tries"))
}
