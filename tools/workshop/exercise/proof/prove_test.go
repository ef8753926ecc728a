package proof

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/proving"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// newProver returns one with a cache of its own.
func newProver(t *testing.T, r repository.Repository) *Prover {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	return &Prover{Repository: r, Lab: r, Cache: t.TempDir(), Program: program, Jobs: 2, Timeout: 2 * time.Minute}
}

// prove proves the targets and returns what was printed.
func (p *Prover) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	targets, err := Targets(p.Repository, args)
	require.NoError(t, err)
	var out bytes.Buffer
	p.Out, p.problems, p.honest = &out, nil, 0
	err = p.Prove(t.Context(), targets)
	return out.String(), err
}

func prove(t *testing.T, r repository.Repository, args ...string) (string, error) {
	t.Helper()
	return newProver(t, r).run(t, args...)
}

// proveTested does it for stages that are known to pass their tests, which saves a run of them.
func proveTested(t *testing.T, r repository.Repository, args ...string) (string, error) {
	t.Helper()
	p := newProver(t, r)
	p.Tested = true
	return p.run(t, args...)
}

func TestHonestExercisesAreProved(t *testing.T) {
	r := exercisetest.New(t)
	out, err := prove(t, r)
	require.NoError(t, err)
	assert.Regexp(t, `^01-sums passes without a patch \(.*s\)\n(1-(lost|smallest|silent) is honest \(.*s\)\n){3}\nexercises: 3 passed, 0 failed\n$`, out)
	assert.Empty(t, repositorytest.Git(t, r, "status", "--porcelain"))
}

// A third exercise waits for the lessons, which do not end here, only as long as it is needed.
func TestBesideLessonsTwoAreProvedAtOnce(t *testing.T) {
	p := newProver(t, exercisetest.New(t))
	p.Jobs = 3
	p.Tested = true
	targets, err := Targets(p.Repository, nil)
	require.NoError(t, err)
	var out bytes.Buffer
	p.Out = &out
	ctx, run := proving.Begin(t.Context())
	require.NoError(t, p.Prove(ctx, targets), &out)
	assert.Contains(t, out.String(), "exercises: 3 passed, 0 failed\n")
	assert.Equal(t, 3, strings.Count(run.Slowest(10), "  exercise  1-"), run.Slowest(10))
}

// A module below the stage has exercises, too. The tests of the stage itself, which fail
// here, are none of theirs.
func TestAnExerciseIsOfAModuleBelowTheStage(t *testing.T) {
	r := exercisetest.New(t)
	for name, content := range map[string]string{
		"go.mod":      "module example.com/sums/tools\n\ngo 1.26.0\n",
		"t/t.go":      "// Package t has a number.\npackage t\n\n// Ten is a number.\nconst Ten = 10\n",
		"t/t_test.go": "package t\n\nimport \"testing\"\n\nfunc TestTen(t *testing.T) {\n\tif Ten != 10 {\n\t\tt.Error(\"it is\", Ten)\n\t}\n}\n",
	} {
		repositorytest.Write(t, r.Path("01-sums", "tools", name), content)
	}
	exercisetest.Edit(t, r.Path("01-sums", "sum", "sum_test.go"), "want := 3", "want := 4")
	require.NoError(t, r.Commit(t.Context(), "a module below the stage"))
	exercisetest.Add(t, r, exercisetest.Exercise{
		Name: "ten", Module: "tools", Level: 1, File: "tools/t/t.go", Old: "= 10", New: "= 11", Package: "./t", Test: "TestTen", Output: "it is 11",
	})
	out, err := prove(t, r, "1/ten")
	require.NoError(t, err, out)
	assert.Contains(t, out, "01-sums/tools passes without a patch")

	exercisetest.Edit(t, r.Path("01-sums", "sum", "sum.go"), "total += n", "total -= n")
	patch := repositorytest.Git(t, r, "diff", "--", "01-sums/sum")
	repositorytest.Git(t, r, "checkout", "--quiet", "01-sums/sum")
	file := r.Path("01-sums", "lesson", "exercises", "ten", "break.patch")
	repositorytest.Write(t, file, repositorytest.Read(t, file)+patch+"\n")
	out, err = prove(t, r, "1/ten")
	require.Error(t, err)
	assert.Contains(t, out, "break.patch touches 01-sums/sum/sum.go, which is not compiled in 01-sums/tools, the module of the tests")

	exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "ten", "judge.yaml"), `module: "tools"`, "module: spoons")
	out, err = prove(t, r, "1/ten")
	require.Error(t, err)
	assert.Contains(t, out, `judge.yaml: there is no module "01-sums/spoons" in the repository`)
}

// A module beside the stage, too, such as the lab. Its patch may touch nothing else.
func TestAnExerciseIsOfAModuleBesideTheStage(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.AddBeside(t, r)
	out, err := prove(t, r, "1/beside")
	require.NoError(t, err, out)
	assert.Contains(t, out, "lab passes without a patch")
	assert.Contains(t, out, "1-beside is honest")

	patch := r.Path("01-sums", "lesson", "exercises", "beside", "break.patch")
	repositorytest.Write(t, patch, repositorytest.Read(t, patch)+"diff --git a/tools/go.mod b/tools/go.mod\n--- a/tools/go.mod\n+++ b/tools/go.mod\n@@ -1 +1 @@\n-module example.com/workshop\n+module example.com/shop\n")
	out, err = prove(t, r, "1/beside")
	require.Error(t, err)
	assert.Contains(t, out, "break.patch touches tools/go.mod, which is not in 01-sums or lab")
	repositorytest.Write(t, patch, strings.ReplaceAll(repositorytest.Read(t, patch), "tools/go.mod", "lab/count/count_test.go"))
	out, err = prove(t, r, "1/beside")
	require.Error(t, err)
	assert.Contains(t, out, "break.patch touches lab/count/count_test.go: it may touch neither tests nor text")
}

// A test that, with the patch, waits for the same test of another package.
const meeting = `package PACKAGE

import (
	"os"
	"testing"
	"time"
)

func TestMeeting(t *testing.T) {
	if PASSES {
		return
	}
	if err := os.Mkdir("FOLDER/PACKAGE", 0o755); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		if _, err := os.Stat("FOLDER/OTHER"); err == nil {
			return
		}
	}
	t.Error("nobody came")
}
`

func TestExercisesAreProvedAtOnce(t *testing.T) {
	r := exercisetest.New(t)
	folder := filepath.ToSlash(t.TempDir())
	for pkg, with := range map[string]*strings.Replacer{
		"sum":   strings.NewReplacer("PACKAGE", "sum", "OTHER", "words", "FOLDER", folder, "PASSES", "Sum(1, 1) == 2"),
		"words": strings.NewReplacer("PACKAGE", "words", "OTHER", "sum", "FOLDER", folder, "PASSES", `Join("a", "b") == "a, b"`),
	} {
		repositorytest.Write(t, r.Path("01-sums", pkg, "meeting_test.go"), with.Replace(meeting))
	}
	p := newProver(t, r)
	p.Tested = true
	out, err := p.run(t, "1/lost", "1/silent")
	require.NoError(t, err, out)
	assert.DirExists(t, filepath.Join(p.Cache, "prove", "slot-2"))
}

func TestAnExerciseThatIsNotHonestIsNamed(t *testing.T) {
	for name, test := range map[string]struct {
		breakIt func(*testing.T, repository.Repository)
		want    []string
	}{
		"the patch no longer applies": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "sum", "sum.go"), "total += n", "total = total + n")
			},
			[]string{"01-sums/lesson/exercises/lost: break.patch no longer applies: git apply: error: patch failed: 01-sums/sum/sum.go:", "; make it again"},
		},
		"the patch no longer bites": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "sum", "sum_test.go"), "want := 3", "want := Sum(numbers...)")
			},
			[]string{"01-sums/lesson/exercises/lost: with the patch TestSum/of_two of ./sum passes, but judge.yaml says that it fails: the patch no longer bites"},
		},
		"another test fails": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("01-sums", "sum", "more_test.go"), "package sum\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {\n\tif Sum(1, 1) != 2 {\n\t\tt.Error(\"too few\")\n\t}\n}\n")
			},
			[]string{"01-sums/lesson/exercises/lost: with the patch TestMore of ./sum fails too: name it in judge.yaml or make the patch smaller\n    more_test.go:7: too few"},
		},
		"the wrong reason": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "lost", "judge.yaml"), "the sum is 2, not 3", "the sum is 7")
			},
			[]string{`01-sums/lesson/exercises/lost: with the patch TestSum/of_two of ./sum fails, but does not print "the sum is 7"`, "sum_test.go:13: the sum is 2, not 3"},
		},
		"it does not compile": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "lost", "break.patch"), "+\t\ttotal = n", "+\t\ttotal = m")
			},
			[]string{"01-sums/lesson/exercises/lost: with the patch the stage does not compile, or go vet complains:", "undefined: m"},
		},
		"a test of another package does not compile": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("01-sums", "sum", "total.go"), "package sum\n\n// Total is a name for Sum.\nvar Total = Sum\n")
				repositorytest.Write(t, r.Path("01-sums", "words", "total_test.go"), "package words\n\nimport \"example.com/sums/sum\"\n\nvar _ = sum.Total\n")
				require.NoError(t, r.Commit(t.Context(), "a test needs another package"))
				exercisetest.Edit(t, r.Path("01-sums", "sum", "total.go"), "Total = Sum", "total = Sum")
				more := repositorytest.Git(t, r, "diff")
				repositorytest.Git(t, r, "checkout", "--quiet", ".")
				patch := r.Path("01-sums", "lesson", "exercises", "lost", "break.patch")
				repositorytest.Write(t, patch, repositorytest.Read(t, patch)+more+"\n")
			},
			[]string{"01-sums/lesson/exercises/lost: with the patch the stage does not compile, or go vet complains:", "undefined: sum.Total"},
		},
		"it panics": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "lost", "break.patch"), "+\t\ttotal = n", "+\t\ttotal = numbers[n]")
			},
			[]string{"01-sums/lesson/exercises/lost: with the patch ./sum ends in a panic (panic: runtime error: index out of range [3] with length 1): in TestSum/of_", "make the patch milder"},
		},
		"it is not formatted": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "lost", "break.patch"), "+\t\ttotal = n", "+\t\ttotal =  n")
			},
			[]string{"01-sums/lesson/exercises/lost: with the patch 01-sums/sum/sum.go is not as gofmt writes it"},
		},
		"it touches the judge": {
			func(t *testing.T, r repository.Repository) {
				path := r.Path("01-sums", "lesson", "exercises", "lost", "break.patch")
				repositorytest.Write(t, path, strings.ReplaceAll(repositorytest.Read(t, path), "sum.go", "sum_test.go"))
			},
			[]string{"01-sums/lesson/exercises/lost: break.patch touches 01-sums/sum/sum_test.go: it may touch neither tests nor text"},
		},
		"it touches another folder": {
			func(t *testing.T, r repository.Repository) {
				path := r.Path("01-sums", "lesson", "exercises", "lost", "break.patch")
				repositorytest.Write(t, path, strings.ReplaceAll(repositorytest.Read(t, path), "01-sums/sum/sum.go", "tools/go.mod"))
			},
			[]string{"01-sums/lesson/exercises/lost: break.patch touches tools/go.mod, which is not in 01-sums"},
		},
		"it is no patch": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("01-sums", "lesson", "exercises", "lost", "break.patch"), "hello\n")
			},
			[]string{"01-sums/lesson/exercises/lost: break.patch is no patch: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := exercisetest.New(t)
			test.breakIt(t, r)
			require.NoError(t, r.Commit(t.Context(), "break it"))
			out, err := proveTested(t, r, "1/lost")
			require.EqualError(t, err, "there is one problem with the exercises, see above", out)
			for _, want := range test.want {
				assert.Contains(t, out, want)
			}
			assert.True(t, strings.HasSuffix(out, "\nexercises: 0 passed, 1 failed\n"), out)
		})
	}
}

func TestTheOthersAreProvedAllTheSame(t *testing.T) {
	r := exercisetest.New(t)
	require.NoError(t, os.Remove(r.Path("01-sums", "lesson", "exercises", "lost", "hints.md")))
	exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "smallest", "judge.yaml"), "not 3", "not 7")
	require.NoError(t, r.Commit(t.Context(), "break it"))
	out, err := proveTested(t, r)
	require.EqualError(t, err, "there are 2 problems with the exercises, see above")
	lost := "01-sums/lesson/exercises/lost: hints.md has 0 hints, at least two are needed"
	smallest := "01-sums/lesson/exercises/smallest: with the patch TestMax of ./sum fails, but does not print"
	assert.Contains(t, out, "1-lost is not complete\n"+lost, "at once, for who may end it early")
	assert.Regexp(t, `1-smallest is NOT honest \(.*s\)\n`+regexp.QuoteMeta(smallest), out)
	_, atTheEnd, _ := strings.Cut(out, "\n\n")
	assert.Contains(t, atTheEnd, lost)
	assert.Contains(t, atTheEnd, smallest)
	assert.Contains(t, out, "silent is honest")
	assert.Contains(t, out, "\nexercises: 1 passed, 2 failed\n")
}

// A test that fails once, with the patch, and never again.
const moody = `package sum

import (
	"os"
	"testing"
)

func TestMoody(t *testing.T) {
	if Sum(1, 1) != 2 && os.Mkdir("MARK", 0o755) == nil {
		t.Error("not today")
	}
}
`

func TestATestThatFailsOnceIsAProblem(t *testing.T) {
	r := exercisetest.New(t)
	mark := filepath.ToSlash(filepath.Join(t.TempDir(), "mark"))
	repositorytest.Write(t, r.Path("01-sums", "sum", "moody_test.go"), strings.Replace(moody, "MARK", mark, 1))
	out, err := proveTested(t, r, "1/lost")
	require.Error(t, err)
	assert.Contains(t, out, "01-sums/lesson/exercises/lost: with the patch TestMoody of ./sum fails too: name it in judge.yaml or make the patch smaller\n    moody_test.go:10: not today")
}

// The package dear needs the package sum, and so do the tests of the package near.
func withDependentPackages(t *testing.T) repository.Repository {
	t.Helper()
	r := exercisetest.New(t)
	for name, content := range map[string]string{
		"dear/dear.go":      "package dear\n\nimport \"example.com/sums/sum\"\n\nfunc Two() int { return sum.Sum(1, 1) }\n",
		"dear/dear_test.go": "package dear\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Error(\"dear is wrong\")\n\t}\n}\n",
		"near/near_test.go": "package near\n\nimport (\n\t\"testing\"\n\n\t\"example.com/sums/dear\"\n)\n\nfunc TestTwo(t *testing.T) {\n\tif dear.Two() != 2 {\n\t\tt.Error(\"near is wrong\")\n\t}\n}\n",
	} {
		repositorytest.Write(t, r.Path("01-sums", name), content)
	}
	return r
}

func TestDependentsAreTestedOnRequest(t *testing.T) {
	r := withDependentPackages(t)
	out, err := prove(t, r, "1/lost")
	require.NoError(t, err, out)

	p := newProver(t, r)
	p.Dependents = true
	out, err = p.run(t, "1/lost")
	require.EqualError(t, err, "there are 2 problems with the exercises, see above")
	assert.Contains(t, out, "with the patch TestTwo of ./dear fails too: name it in judge.yaml or make the patch smaller\n    dear_test.go:7: dear is wrong")
	assert.Contains(t, out, "with the patch TestTwo of ./near fails too")
}

func TestAStageHasThreeExercisesOfRisingLevel(t *testing.T) {
	of := func(levels ...int) (exercises []exercise.Exercise) {
		for _, level := range levels {
			exercises = append(exercises, exercise.Exercise{Judge: exercise.Judge{Level: level}})
		}
		return exercises
	}
	assert.Empty(t, stageRules(of(3, 1, 2)))
	assert.Empty(t, stageRules(of(1, 1, 3)))
	assert.Equal(t, []string{"it has 2 exercises, at least three are needed: add a folder in lesson/exercises/"}, stageRules(of(1, 2)))
	assert.Equal(t, []string{"the levels of its exercises are [2 3], they have to rise from 1: set level in a judge.yaml"}, stageRules(of(2, 2, 3)))
	assert.Equal(t, []string{"the levels of its exercises are [1], they have to rise from 1: set level in a judge.yaml"}, stageRules(of(1, 1, 1)))
}

func TestWhereTheTestsFailAnywayNothingIsProved(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.Edit(t, r.Path("01-sums", "sum", "sum.go"), "n > largest", "n < largest")
	out, err := prove(t, r, "1/lost")
	require.ErrorContains(t, err, "problems with the exercises")
	assert.Contains(t, out, "01-sums: without any patch TestMax of ./sum fails:\n    sum_test.go:21: the largest is 1, not 3")
	assert.Contains(t, out, "01-sums: its exercises cannot be proved before that passes\nexercises: 0 passed, 1 failed\n")
	assert.NotContains(t, out, "honest")

	// Who says that they pass gets what the patch makes of it.
	out, err = proveTested(t, r, "1/lost")
	require.Error(t, err)
	assert.NotContains(t, out, "without")
	assert.Contains(t, out, "with the patch TestMax of ./sum fails too")
}

func TestANamedTestIsRunWithoutThePatch(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "lost", "judge.yaml"), "TestSum/of_two", "TestSum/of_four")
	out, err := prove(t, r, "1/lost")
	require.Error(t, err)
	assert.Contains(t, out, "01-sums: without any patch TestSum/of_four of ./sum is not run: is that its name, as go test prints it?")
}

func TestAStageWithoutExercisesHasTooFew(t *testing.T) {
	r := exercisetest.New(t)
	repositorytest.Write(t, r.Path("02-empty", "go.mod"), "module empty\n")
	require.NoError(t, r.Commit(t.Context(), "another stage"))
	out, err := prove(t, r, "2")
	require.Error(t, err)
	assert.Contains(t, out, "02-empty: it has 0 exercises, at least three are needed")
}

func TestWhatTakesTooLongIsAProblem(t *testing.T) {
	p := newProver(t, exercisetest.New(t))
	p.Timeout = time.Nanosecond
	out, err := p.run(t, "1")
	require.Error(t, err)
	assert.Contains(t, out, "01-sums: the tests take too long; the limit is --timeout")
	p.Tested = true
	out, err = p.run(t, "1")
	require.Error(t, err)
	assert.Contains(t, out, "01-sums/lesson/exercises/lost: the tests take too long; the limit is --timeout")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Prove(ctx, nil), context.Canceled)
}

func TestTargetsAreStagesAndExercises(t *testing.T) {
	r := exercisetest.New(t)
	all, err := Targets(r, nil)
	require.NoError(t, err)
	whole := Target{repository.Stage{Number: 1, Folder: "01-sums"}, []string{"lost", "silent", "smallest"}, true}
	assert.Equal(t, []Target{whole}, all)
	one, err := Targets(r, []string{"1/lost", "1"})
	require.NoError(t, err)
	assert.Equal(t, []Target{{whole.Stage, []string{"lost"}, false}, whole}, one)
	_, err = Targets(r, []string{"1/last"})
	require.EqualError(t, err, `stage 1 has no exercise "last"; it has: lost, silent, smallest`)
	_, err = Targets(r, []string{"7"})
	require.ErrorContains(t, err, "there is no stage 7")
}

func TestTheCommandProvesTheRepositoryItIsIn(t *testing.T) {
	r := exercisetest.New(t)
	useOwnCache(t)
	// What is not committed yet is proved, too.
	exercisetest.Edit(t, r.Path("01-sums", "lesson", "exercises", "lost", "judge.yaml"), "minutes: 5", "minutes: 0")
	t.Chdir(r.Root)
	out, err := runCommand(t, "1/lost")
	require.Error(t, err)
	assert.Contains(t, out, "does not say how many minutes")

	t.Chdir(r.Path("01-sums"))
	out, err = runCommand(t, "1/silent")
	require.NoError(t, err, out)
	assert.Contains(t, out, "exercises: 1 passed, 0 failed")
	t.Chdir(t.TempDir())
	_, err = runCommand(t)
	require.ErrorContains(t, err, "not a git repository")
}

func TestAFreshProofTakesNoVerdict(t *testing.T) {
	r := exercisetest.New(t)
	useOwnCache(t)
	t.Chdir(r.Root)
	t.Setenv("CI", "true") // which has no say
	t.Setenv("FRESH", "1")
	for range 2 {
		out, err := runCommand(t, "1/silent")
		require.NoError(t, err, out)
		assert.NotContains(t, out, "cache")
	}
	t.Setenv("FRESH", "")
	out, err := runCommand(t, "1/silent")
	require.NoError(t, err, out)
	assert.Contains(t, out, "1 of 1 verdicts from the cache")
	out, err = runCommand(t, "--fresh", "1/silent")
	require.NoError(t, err, out)
	assert.NotContains(t, out, "cache")
}

// useOwnCache gives the test a cache folder of its own, but for Go's.
func useOwnCache(t *testing.T) {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

func runCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := NewCommand()
	command.SetOut(&out)
	command.SetErr(&out)
	command.SetArgs(args)
	command.SilenceErrors, command.SilenceUsage = true, true
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}
