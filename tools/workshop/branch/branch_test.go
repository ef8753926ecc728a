package branch

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// neverRun is a test of a module that was tested before its branch was cut.
const neverRun = "package main\n\nimport \"testing\"\n\nfunc TestAll(t *testing.T) { t.Error(\"all of it is tested\") }\n"

// newRepository makes a small workshop of three stages, with one commit.
func newRepository(t *testing.T) repository.Repository {
	t.Helper()
	return repositorytest.New(t, map[string]string{
		"README.md": "# The workshop\n\n| stage | what | |\n|---|---|---|\n" +
			"| [1. list](01-list/) | a client | here |\n| [2. watch](02-watch/) | a listener | here |\n| [3. queue](03-queue/) | a queue | here |\n",
		"START.md":                     "# Start\n\nRead [the list](01-list/README.md), then [the queue](03-queue/queue.go). ![The stages](01-list/map.svg) ![The queue](03-queue/queue.svg)\n",
		"docs/GLOSSARY.md":             "# Glossary\n\nSee [stage 3](../03-queue/).\n\n- **list**: Reads. [Stage 1](../01-list/README.md)\n- **queue**: Holds keys. [Stage 3](../03-queue/queue.go)\n",
		"Makefile":                     "stage-1 stage-2:\n\t@true\ninclude $(wildcard */lesson/stage.mk)\n",
		"03-queue/lesson/stage.mk":     "SPEED := 3\n.PHONY: race\nrace:\n\t@true\nstage-3 load-3:\n\t@true\n",
		"CONTRIBUTING.md":              "# Rules\n\nRun `make stage-1`, `make stage-3 SPEED=1` and\n`make race`.\n\n    make stage-1\n    make stage-3   the queue\n",
		"01-list/map.svg":              "<svg/>",
		"03-queue/queue.svg":           "<svg/>",
		"go.work":                      "// For editors.\ngo 1.26.0\n\nuse (\n\t./01-list\n\t./02-watch\n\t./02-watch/nested\n\t./03-queue\n\t./03-queue/nested // later\n\t./tools\n)\n",
		"01-list/go.mod":               "module one\n\ngo 1.26.0\n",
		"01-list/README.md":            "# One\n\nAgain in [stage\n2](../02-watch/), or in [its queue](../03-queue/queue.go#L1). See [main](main.go).\n\n```text\n[not a link](../03-queue/)\n```\n",
		"01-list/main.go":              "package main\n\nfunc main() {}\n",
		"01-list/main_test.go":         neverRun,
		"01-list/lesson_test.go":       "package main\n\nimport (\n\t\"os\"\n\t\"strings\"\n\t\"testing\"\n)\n\nfunc TestTheLesson(t *testing.T) {\n\ttext, _ := os.ReadFile(\"README.md\")\n\tif !strings.HasPrefix(string(text), \"# One\") {\n\t\tt.Error(\"another title\")\n\t}\n}\n",
		"02-watch/go.mod":              "module two\n\ngo 1.26.0\n",
		"02-watch/watch.go":            "package main\n\nfunc main() {}\n",
		"02-watch/main_test.go":        neverRun,
		"02-watch/nested/go.mod":       "module two/nested\n\ngo 1.26.0\n\nreplace two => ../\n",
		"02-watch/nested/main.go":      "package main\n\nfunc main() {}\n",
		"02-watch/nested/main_test.go": neverRun,
		"03-queue/go.mod":              "module three\n\ngo 1.26.0\n",
		"03-queue/queue.go":            "package queue\n",
		"03-queue/nested/go.mod":       "module three/nested\n\ngo 1.26.0\n\nreplace three => ../\n",
		"03-queue/testdata/go.mod":     "not one of a module",
		"katacoda/course.txt":          "01-list 02-watch 03-queue",
		"tools/go.mod":                 "module tools\n\ngo 1.26.0\n",
		"lab/go.mod":                   "module lab\n\ngo 1.26.0\n",
		"lab/main.go":                  "package main\n",
	})
}

// cutter generates one file from the stages that are there.
var cutter = Cutter{Generate: func(_ context.Context, r repository.Repository) error {
	stages, err := r.Stages()
	if err != nil {
		return err
	}
	var course string
	for _, stage := range stages {
		course += stage.Folder + " "
	}
	return os.WriteFile(r.Path("katacoda", "course.txt"), []byte(course[:len(course)-1]), 0o644)
}}

func TestABranchHoldsTheStagesUpToItsOwn(t *testing.T) {
	r := newRepository(t)
	branches, err := cutter.Cut(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, branches, 3)

	repositorytest.Git(t, r, "switch", "--quiet", "stage-1")
	stages, err := r.Stages()
	require.NoError(t, err)
	assert.Equal(t, []repository.Stage{{Number: 1, Folder: "01-list"}}, stages)
	assert.Equal(t, "// For editors.\ngo 1.26.0\n\nuse (\n\t./01-list\n\t./tools\n)\n", repositorytest.Read(t, r.Path("go.work")))
	assert.Equal(t, "01-list", repositorytest.Read(t, r.Path("katacoda", "course.txt")), "what is generated was not generated again")
	assert.Equal(t, "# One\n\nAgain in stage\n2, or in its queue. See [main](main.go).\n\n```text\n[not a link](../03-queue/)\n```\n", repositorytest.Read(t, r.Path("01-list", "README.md")))
	assert.Equal(t, "# Start\n\nRead [the list](01-list/README.md), then the queue. ![The stages](01-list/map.svg) The queue\n", repositorytest.Read(t, r.Path("START.md")))
	assert.Equal(t, "# Glossary\n\nSee stage 3.\n\n- **list**: Reads. [Stage 1](../01-list/README.md)\n", repositorytest.Read(t, r.Path("docs", "GLOSSARY.md")))
	assert.Equal(t, "# Rules\n\nRun `make stage-1`, `make stage-3 SPEED=1` (branch `stage-3`) and\n`make race` (branch `stage-3`).\n\n    make stage-1\n",
		repositorytest.Read(t, r.Path("CONTRIBUTING.md")))
	readme := repositorytest.Read(t, r.Path("README.md"))
	assert.Contains(t, readme, "This is branch `stage-1`: the workshop up to stage 1.")
	assert.Contains(t, readme, "| [1. list](01-list/) | a client | here |\n| 2. watch | a listener | branch `stage-2` |\n| 3. queue | a queue | branch `stage-3` |\n")

	assert.Contains(t, repositorytest.Git(t, r, "show", "stage-2:go.work"), "\t./02-watch\n\t./02-watch/nested\n\t./tools\n")
	assert.Equal(t, repositorytest.Git(t, r, "rev-parse", "main^{tree}"), repositorytest.Git(t, r, "rev-parse", "stage-3^{tree}"), "the last one has everything")
	assert.Equal(t, repositorytest.Git(t, r, "rev-parse", "main"), repositorytest.Git(t, r, "rev-parse", "stage-2^"), "it grows out of the commit it was cut from")
}

func TestTheSameCommitGivesTheSameBranches(t *testing.T) {
	r := newRepository(t)
	one, err := cutter.Cut(t.Context(), r)
	require.NoError(t, err)
	clone, err := r.Clone(t.Context(), filepath.Join(t.TempDir(), "elsewhere"))
	require.NoError(t, err)
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	t.Setenv("TZ", "Asia/Tokyo")
	two, err := cutter.Cut(t.Context(), clone)
	require.NoError(t, err)
	assert.Equal(t, one, two)
}

func TestANewCommitMovesTheBranches(t *testing.T) {
	r := newRepository(t)
	old, err := cutter.Cut(t.Context(), r)
	require.NoError(t, err)
	repositorytest.Write(t, r.Path("01-list", "more.go"), "package main\n")
	cut, err := cutter.Cut(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, old, cut, "what is not committed is in no branch")

	require.NoError(t, r.Commit(t.Context(), "second"))
	cut, err = cutter.Cut(t.Context(), r)
	require.NoError(t, err)
	assert.NotEqual(t, old, cut)
	assert.Equal(t, "package main", repositorytest.Git(t, r, "show", "stage-2:01-list/more.go"))
}

func TestABranchThatSomebodyNeedsIsLeftAlone(t *testing.T) {
	r := newRepository(t)
	old, err := cutter.Cut(t.Context(), r)
	require.NoError(t, err)

	repositorytest.Git(t, r, "switch", "--quiet", "stage-2")
	_, err = cutter.Cut(t.Context(), r)
	require.ErrorContains(t, err, "git switch main")

	repositorytest.Write(t, r.Path("02-watch", "mine.go"), "package main\n")
	require.NoError(t, r.Commit(t.Context(), "my solution"))
	mine := repositorytest.Git(t, r, "rev-parse", "HEAD")
	repositorytest.Git(t, r, "switch", "--quiet", "main")
	repositorytest.Write(t, r.Path("01-list", "more.go"), "package main\n")
	require.NoError(t, r.Commit(t.Context(), "second"))
	_, err = cutter.Cut(t.Context(), r)
	require.ErrorContains(t, err, "branch stage-2 has commits of your own; to keep them under another name: git branch -m stage-2 my-stage-2")
	assert.Equal(t, mine, repositorytest.Git(t, r, "rev-parse", "stage-2"))
	assert.Equal(t, old[0].Commit, repositorytest.Git(t, r, "rev-parse", "stage-1"), "all, or none")

	repositorytest.Git(t, r, "branch", "-m", "stage-2", "my-stage-2")
	repositorytest.Git(t, r, "worktree", "add", "--quiet", filepath.Join(t.TempDir(), "tree"), "stage-1")
	_, err = cutter.Cut(t.Context(), r)
	require.ErrorContains(t, err, "branch stage-1 is checked out")
}

func TestSwitchRefusesWithUncommittedWork(t *testing.T) {
	for name, file := range map[string]string{"a changed file": "01-list/main.go", "a new file": "01-list/notes of mine.txt"} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			repositorytest.Write(t, r.Path(file), "work of an hour\n")
			err := cutter.Switch(t.Context(), r, "2")
			require.ErrorContains(t, err, "is not committed, so not going to stage-2")
			require.ErrorContains(t, err, "git stash")
			assert.Equal(t, "main", repositorytest.Git(t, r, "branch", "--show-current"))
			assert.Equal(t, "work of an hour\n", repositorytest.Read(t, r.Path(file)))
		})
	}
}

func TestSwitchCutsWhatIsNotThereYet(t *testing.T) {
	r := newRepository(t)
	require.ErrorContains(t, cutter.Switch(t.Context(), r, "7"), "there is no stage 7 here; there is: 1, 2, 3")
	require.NoError(t, cutter.Switch(t.Context(), r, "2"))
	assert.Equal(t, "stage-2", repositorytest.Git(t, r, "branch", "--show-current"))
	require.NoError(t, cutter.Switch(t.Context(), r, "3"), "from one branch to the next")
	assert.FileExists(t, r.Path("03-queue", "queue.go"))

	repositorytest.Git(t, r, "switch", "--quiet", "stage-1")
	repositorytest.Git(t, r, "branch", "-D", "stage-2")
	require.ErrorContains(t, cutter.Switch(t.Context(), r, "2"), "git switch main")
}

func TestSwitchFindsPublishedBranches(t *testing.T) {
	published := newRepository(t)
	_, err := cutter.Cut(t.Context(), published)
	require.NoError(t, err)
	clone, err := published.Clone(t.Context(), filepath.Join(t.TempDir(), "clone"))
	require.NoError(t, err)
	require.NoError(t, cutter.Switch(t.Context(), clone, "2"))
	assert.Equal(t, repositorytest.Git(t, published, "rev-parse", "stage-2"), repositorytest.Git(t, clone, "rev-parse", "HEAD"))
}
