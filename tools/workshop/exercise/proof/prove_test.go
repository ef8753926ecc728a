package proof

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// prove proves the targets in r itself, and returns what was printed.
func prove(t *testing.T, r repository.Repository, args ...string) (string, error) {
	t.Helper()
	targets, err := Targets(r, args)
	require.NoError(t, err)
	var out bytes.Buffer
	p := Prover{Clone: r, Timeout: 2 * time.Minute, Out: &out}
	err = p.Prove(t.Context(), targets)
	status, gitErr := r.Git(t.Context(), "status", "--porcelain")
	require.NoError(t, gitErr)
	assert.Empty(t, status, "the clone is not left as it was")
	return out.String(), err
}

func TestHonestExercisesAreProved(t *testing.T) {
	out, err := prove(t, exercisetest.New(t))
	require.NoError(t, err)
	assert.Regexp(t, `(?s)^01-sums\n  without a patch all tests pass \(.*s\)\n  lost is honest \(.*\n  smallest is honest .*\n  silent is honest .*\n\nAll 3 exercises are honest.\n$`, out)
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
			[]string{"01-sums/exercises/lost: break.patch no longer applies: git apply: error: patch failed: 01-sums/sum/sum.go:", "; make it anew"},
		},
		"the patch no longer bites": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "sum", "sum_test.go"), "want := 3", "want := Sum(numbers...)")
			},
			[]string{"01-sums/exercises/lost: with the patch TestSum/of_two of ./sum passes, but judge.yaml says that it fails: the patch no longer bites"},
		},
		"another test fails": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("01-sums", "sum", "more_test.go"), "package sum\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {\n\tif Sum(1, 1) != 2 {\n\t\tt.Error(\"too few\")\n\t}\n}\n")
			},
			[]string{"01-sums/exercises/lost: with the patch TestMore of ./sum fails too: name it in judge.yaml or make the patch smaller\n    more_test.go:7: too few"},
		},
		"the wrong reason": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "exercises", "lost", "judge.yaml"), "the sum is 2, not 3", "the sum is 7")
			},
			[]string{`01-sums/exercises/lost: with the patch TestSum/of_two of ./sum fails, but does not print "the sum is 7"`, "sum_test.go:13: the sum is 2, not 3"},
		},
		"it does not compile": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "exercises", "lost", "break.patch"), "+\t\ttotal = n", "+\t\ttotal = m")
			},
			[]string{"01-sums/exercises/lost: with the patch the stage does not compile, or go vet complains:", "undefined: m"},
		},
		"it panics": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "exercises", "lost", "break.patch"), "+\t\ttotal = n", "+\t\ttotal = numbers[n]")
			},
			[]string{"01-sums/exercises/lost: with the patch ./sum ends in a panic (panic: runtime error: index out of range [3] with length 1): in TestSum/of_", "make the patch milder"},
		},
		"it is not formatted": {
			func(t *testing.T, r repository.Repository) {
				exercisetest.Edit(t, r.Path("01-sums", "exercises", "lost", "break.patch"), "+\t\ttotal = n", "+\t\ttotal =  n")
			},
			[]string{"01-sums/exercises/lost: with the patch 01-sums/sum/sum.go is not as gofmt writes it"},
		},
		"it touches the judge": {
			func(t *testing.T, r repository.Repository) {
				path := r.Path("01-sums", "exercises", "lost", "break.patch")
				repositorytest.Write(t, path, strings.ReplaceAll(repositorytest.Read(t, path), "sum.go", "sum_test.go"))
			},
			[]string{"01-sums/exercises/lost: break.patch touches 01-sums/sum/sum_test.go: it may touch neither tests nor text"},
		},
		"it touches another folder": {
			func(t *testing.T, r repository.Repository) {
				path := r.Path("01-sums", "exercises", "lost", "break.patch")
				repositorytest.Write(t, path, strings.ReplaceAll(repositorytest.Read(t, path), "01-sums/sum/sum.go", "tools/workshop/go.mod"))
			},
			[]string{"01-sums/exercises/lost: break.patch touches tools/workshop/go.mod, which is not in 01-sums"},
		},
		"it is no patch": {
			func(t *testing.T, r repository.Repository) {
				repositorytest.Write(t, r.Path("01-sums", "exercises", "lost", "break.patch"), "hello\n")
			},
			[]string{"01-sums/exercises/lost: break.patch is no patch: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := exercisetest.New(t)
			test.breakIt(t, r)
			require.NoError(t, r.Commit(t.Context(), "break it"))
			out, err := prove(t, r, "1/lost")
			require.EqualError(t, err, "there is one problem with the exercises, see above", out)
			for _, want := range test.want {
				assert.Contains(t, out, want)
			}
		})
	}
}

func TestTheOthersAreProvedAllTheSame(t *testing.T) {
	r := exercisetest.New(t)
	require.NoError(t, os.Remove(r.Path("01-sums", "exercises", "lost", "hints.md")))
	exercisetest.Edit(t, r.Path("01-sums", "exercises", "smallest", "judge.yaml"), "not 3", "not 7")
	require.NoError(t, r.Commit(t.Context(), "break it"))
	out, err := prove(t, r)
	require.EqualError(t, err, "there are 2 problems with the exercises, see above")
	assert.Contains(t, out, "01-sums/exercises/lost: hints.md has 0 hints, at least two are needed")
	assert.Contains(t, out, "01-sums/exercises/smallest: with the patch TestMax of ./sum fails, but does not print")
	assert.Contains(t, out, "silent is honest")
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

func TestWhatFailsOnceThoughNobodyNamedItIsLookedAtTwice(t *testing.T) {
	r := exercisetest.New(t)
	mark := filepath.ToSlash(filepath.Join(t.TempDir(), "mark"))
	repositorytest.Write(t, r.Path("01-sums", "sum", "moody_test.go"), strings.Replace(moody, "MARK", mark, 1))
	require.NoError(t, r.Commit(t.Context(), "a test with moods"))
	out, err := prove(t, r, "1/lost")
	require.NoError(t, err, out)
	assert.Contains(t, out, "TestMoody of ./sum failed, though it is not named; looking at it once more")
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
	assert.Equal(t, []string{"it has 2 exercises, at least three are needed: add a folder in exercises/"}, stageRules(of(1, 2)))
	assert.Equal(t, []string{"the levels of its exercises are [2 3], they have to rise from 1: set level in a judge.yaml"}, stageRules(of(2, 2, 3)))
	assert.Equal(t, []string{"the levels of its exercises are [1], they have to rise from 1: set level in a judge.yaml"}, stageRules(of(1, 1, 1)))
}

func TestWhereTheTestsFailAnywayNothingIsProved(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.Edit(t, r.Path("01-sums", "sum", "sum.go"), "n > largest", "n < largest")
	require.NoError(t, r.Commit(t.Context(), "break it"))
	out, err := prove(t, r)
	require.ErrorContains(t, err, "problems with the exercises")
	assert.Contains(t, out, "01-sums: without any patch TestMax of ./sum fails:\n    sum_test.go:21: the largest is 1, not 3")
	assert.NotContains(t, out, "honest\n")
}

func TestEndToEndTestsAreRunIfAnExerciseNamesOne(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.Edit(t, r.Path("01-sums", "exercises", "lost", "judge.yaml"), "tests:\n", "tests:\n  - {package: ./e2e, test: TestAll, output: there is no lab, because: x}\n")
	require.NoError(t, r.Commit(t.Context(), "name it"))
	out, err := prove(t, r, "1/lost")
	require.Error(t, err)
	assert.Contains(t, out, "without any patch TestAll of ./e2e fails")
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
	r := exercisetest.New(t)
	targets, err := Targets(r, []string{"1"})
	require.NoError(t, err)
	var out bytes.Buffer
	p := Prover{Clone: r, Timeout: time.Nanosecond, Out: &out}
	require.Error(t, p.Prove(t.Context(), targets))
	assert.Contains(t, out.String(), "01-sums: the tests take too long; the limit is --timeout")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Prove(ctx, targets), context.Canceled)
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

func TestTheCommandWorksInACloneOfItsOwn(t *testing.T) {
	r := exercisetest.New(t)
	// What is not committed yet is proved, too.
	exercisetest.Edit(t, r.Path("01-sums", "exercises", "lost", "judge.yaml"), "minutes: 5", "minutes: 0")
	t.Chdir(r.Root)
	out, err := runCommand(t, "1/lost")
	require.Error(t, err)
	assert.Contains(t, out, "does not say how many minutes")

	_, err = runCommand(t, "--in", r.Root, "1/lost")
	require.ErrorContains(t, err, "it has changes that are not committed")
	_, err = runCommand(t, "--in", t.TempDir())
	require.ErrorContains(t, err, "not a git repository")

	clean, err := repository.Repository{Root: r.Root}.Copy(t.Context(), filepath.Join(t.TempDir(), "clean"))
	require.NoError(t, err)
	out, err = runCommand(t, "--in", clean.Root, "1/silent")
	require.NoError(t, err, out)
	assert.Contains(t, out, "The exercise is honest.")
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
