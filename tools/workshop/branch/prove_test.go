package branch

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// prove proves a clean copy of r, and returns what was told on the way.
func prove(t *testing.T, c Cutter, r repository.Repository) (string, error) {
	t.Helper()
	clone, err := r.Copy(t.Context(), filepath.Join(t.TempDir(), "clone"))
	require.NoError(t, err)
	var out bytes.Buffer
	err = Prover{Cutter: c, Out: &out}.Prove(t.Context(), clone)
	return out.String(), err
}

func TestWhatIsAsOnMainIsNotTestedAgain(t *testing.T) {
	told, err := prove(t, cutter, newRepository(t))
	require.NoError(t, err, told)
	assert.Regexp(t, `^  01-list has other Markdown, and the tests that read it pass \(\d+s\)
branch stage-1 is whole \(\d+s\)
  01-list has other Markdown, and the tests that read it pass \(\d+s\)
branch stage-2 is whole \(\d+s\)
branch stage-3 is whole \(\d+s\)
branches: 3 passed, 0 failed
$`, told)
}

// changing is the cutter with a change of the working tree of each branch.
func changing(change func(r repository.Repository)) Cutter {
	return Cutter{Generate: func(ctx context.Context, r repository.Repository) error {
		change(r)
		return cutter.Generate(ctx, r)
	}}
}

func TestWhatDiffersIsTested(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"a module":               {"01-list/more.go", "package main\n", "branch stage-1: the tests of 01-list: TestAll of the top package fails:\n    main_test.go:5: all of it is tested"},
		"a module in a module":   {"02-watch/nested/more.go", "package main\n", "branch stage-2: the tests of 02-watch/nested: TestAll of the top package fails"},
		"what a module requires": {"02-watch/more.txt", "", "branch stage-2: the tests of 02-watch: TestAll of the top package fails"},
		"the lesson":             {"01-list/README.md", "# Two\n", "branch stage-1: the tests of 01-list: TestTheLesson of the top package fails:\n    lesson_test.go:12: another title"},
		"the lab":                {"lab/main.go", "package other\n", "branch stage-1: it changes lab/main.go, which nothing tests on a branch"},
		"what is in no module":   {"Makefile", "all:\n", "branch stage-1: it changes Makefile, which nothing tests on a branch"},
	} {
		t.Run(name, func(t *testing.T) {
			told, err := prove(t, changing(func(r repository.Repository) {
				if _, err := os.Stat(filepath.Dir(r.Path(c.file))); err == nil {
					repositorytest.Write(t, r.Path(c.file), c.content)
				}
			}), newRepository(t))
			require.ErrorContains(t, err, c.want)
			assert.Regexp(t, `branches: [01] passed, [23] failed\n$`, told)
		})
	}
}

// 02-watch/nested requires 02-watch, and is the same on the branch.
func TestWhatRequiresSomethingThatDiffersIsTested(t *testing.T) {
	r := newRepository(t)
	require.NoError(t, os.Remove(r.Path("02-watch", "main_test.go")))
	require.NoError(t, r.Commit(t.Context(), "second"))
	_, err := prove(t, changing(func(r repository.Repository) {
		if _, err := os.Stat(r.Path("02-watch")); err == nil {
			repositorytest.Write(t, r.Path("02-watch", "more.go"), "package main\n")
		}
	}), r)
	require.ErrorContains(t, err, "branch stage-2: the tests of 02-watch/nested: TestAll of the top package fails")
}

func TestABranchThatIsNotWholeIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ file, content, want string }{
		"a link leads nowhere":        {"02-watch/README.md", "See [it](gone.md).\n", "branch stage-2: 02-watch/README.md links to gone.md, which is not there"},
		"a target is not there":       {"02-watch/README.md", "Run `make haste`.\n", "branch stage-2: 02-watch/README.md names make haste, which is no target"},
		"a replacement leads nowhere": {"02-watch/go.mod", "module two\n\ngo 1.26.0\n\nreplace three => ../03-queue\n", "branch stage-2: 02-watch/go.mod takes three from ../03-queue, which is not there"},
		"go.work has a line too many": {"go.work", "go 1.26.0\n\nuse ./04-gone\n", "branch stage-3: go.work does not fit"},
		"go.work is for another Go":   {"go.work", "go 1.25.0\n\nuse ./01-list\n", "branch stage-2: go.work does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			repositorytest.Write(t, r.Path(c.file), c.content)
			_, err := prove(t, cutter, r)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestCuttingThatIsNotDeterministicIsNoticed(t *testing.T) {
	var times int
	drifting := Cutter{Generate: func(_ context.Context, r repository.Repository) error {
		times++
		repositorytest.Write(t, r.Path("katacoda", "course.txt"), strconv.Itoa(times))
		return nil
	}}
	_, err := prove(t, drifting, newRepository(t))
	require.ErrorContains(t, err, "cutting is not deterministic")
}
