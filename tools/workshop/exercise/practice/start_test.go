package practice

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestStartingGivesACopyThatIsBroken(t *testing.T) {
	l := newLearner(t)
	out := l.mustStart("1", "lost")
	assert.Equal(t, `1-lost: Something is lost (level 1, about 5 minutes)

Your copy of the repository:
  .workshop/1-lost
Read the task:
  .workshop/1-lost/01-sums/lesson/exercises/lost/README.md
Then open:
  .workshop/1-lost/01-sums/sum/sum.go

Run:
  bin/workshop check     run the tests of the exercise
  bin/workshop watch     the same, at each save
  bin/workshop hint      show one more hint
  bin/workshop solution  show the solution, after your first try
  bin/workshop reset     start again; your changes are kept
  bin/workshop list      show your progress
`, out)
	assert.Contains(t, repositorytest.Read(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go")), "total = n")
	assert.Empty(t, l.git(l.copyPath("1-lost"), "status", "--porcelain"))
	assert.Equal(t, "Exercise: 1-lost", l.git(l.copyPath("1-lost"), "log", "-1", "--format=%s"))
	assert.Equal(t, "exercise/1-lost", l.git(l.copyPath("1-lost"), "branch", "--show-current"))
	assert.Equal(t, "1-lost", l.progress().Current)

	// The learner's own tree is as it was.
	assert.Contains(t, repositorytest.Read(t, l.home.Path("01-sums", "sum", "sum.go")), "total += n")
	assert.Empty(t, l.git(l.home.Root, "status", "--porcelain"))
	assert.Equal(t, "main", l.git(l.home.Root, "branch", "--show-current"))
}

func TestWhatIsNotCommittedIsNeitherTouchedNorCopied(t *testing.T) {
	l := newLearner(t)
	path := l.home.Path("01-sums", "sum", "sum.go")
	repositorytest.Write(t, path, "package mine\n")
	assert.Contains(t, l.mustStart("1", "lost"), "without your uncommitted changes.\n")
	assert.Equal(t, "package mine\n", repositorytest.Read(t, path))
	assert.Contains(t, repositorytest.Read(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go")), "total = n")
}

func TestStartingTwiceLosesNothing(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	repositorytest.Write(t, l.copyPath("1-lost", "mine.txt"), "work")
	_, err := l.hint(false)
	require.NoError(t, err)
	l.mustStart("1", "silent")
	assert.Equal(t, "1-silent", l.progress().Current)

	// From within a copy, too, and on a branch that does not have the exercise.
	l.git(l.home.Root, "rm", "-r", "--quiet", "01-sums/lesson/exercises/lost")
	out, err := l.in(".workshop", "1-silent", "01-sums").start("01", "lost")
	require.NoError(t, err)
	assert.Contains(t, out, "You have already started 1-lost (0 tries, 1 hint); the copy is as you left it. To start again: ../../../bin/workshop reset\n")
	assert.Contains(t, out, "\n  ../../1-lost\n")
	assert.Equal(t, "work", repositorytest.Read(t, l.copyPath("1-lost", "mine.txt")))
	assert.Equal(t, "1-lost", l.progress().Current)
	assert.False(t, exists(l.copyPath("1-silent", ".workshop")), "the progress is kept at home")
}

func TestAFolderThatIsGoneComesBackWithItsBranch(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	l.solve()
	l.git(l.copyPath("1-lost"), "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--all", "--message", "mine")
	require.NoError(t, os.RemoveAll(l.copyPath("1-lost")))

	assert.Contains(t, l.mustStart("1", "lost"), "The copy of this exercise was missing. It is restored, with your commits on the branch exercise/1-lost.")
	assert.Contains(t, repositorytest.Read(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go")), "total = total + n")
}

func TestWorktreesOfTheLearnerStayRegistered(t *testing.T) {
	l := newLearner(t)
	mine := filepath.Join(t.TempDir(), "mine")
	l.git(l.home.Root, "worktree", "add", "--quiet", "--detach", mine)
	require.NoError(t, os.Rename(mine, mine+"-on-a-disk-that-is-away"))

	l.mustStart("1", "lost")
	for _, gone := range []func(string) error{os.RemoveAll, func(path string) error {
		return errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o755))
	}} {
		require.NoError(t, gone(l.copyPath("1-lost")))
		assert.Contains(t, l.mustStart("1", "lost"), "The copy of this exercise was missing. It is restored")
		assert.Contains(t, l.git(l.home.Root, "worktree", "list"), mine)
	}
}

func TestWhatPreventsAStartIsReported(t *testing.T) {
	for name, test := range map[string]struct {
		number, name string
		prepare      func(learner)
		want         string
	}{
		"no such exercise":   {"1", "last", func(learner) {}, `stage 1 has no exercise "last"; it has: lost, silent, smallest`},
		"no such stage":      {"4", "lost", func(learner) {}, "there is no stage 4 here; there is: 1"},
		"no stage at all":    {"", "lost", func(learner) {}, "name the exercise: make exercise N=1 NAME=...; to list them: bin/workshop list"},
		"no name":            {"1", "", func(learner) {}, "name the exercise"},
		"a word for a stage": {"one", "lost", func(learner) {}, "there is no stage one here; there is: 1"},
		"a path":             {"1", "../exercises/lost", func(learner) {}, "stage 1 has no exercise"},
		"a folder": {"1", "lost", func(l learner) {
			repositorytest.Write(l, l.copyPath("1-lost", "notes.txt"), "mine")
		}, ".workshop/1-lost already exists, and is not a copy of the exercise; move it away and start again"},
		"a file": {"1", "lost", func(l learner) {
			repositorytest.Write(l, l.copyPath("1-lost"), "mine")
		}, ".workshop/1-lost already exists"},
		"a branch of that name": {"1", "lost", func(l learner) {
			l.git(l.home.Root, "branch", "exercise/1-lost")
		}, "the branch exercise/1-lost already exists, and is not of an exercise that was started here; rename it, or delete it with: git branch -D exercise/1-lost"},
		"a patch that does not apply": {"1", "lost", func(l learner) {
			exercisetest.Edit(l, l.home.Path("01-sums", "sum", "sum.go"), "total += n", "total = total + n")
			require.NoError(l, l.home.Commit(l.Context(), "changed"))
		}, "01-sums/lesson/exercises/lost/break.patch does not apply to the code of this commit; that is a mistake of the workshop, not yours: git apply: error: patch failed"},
		"an exercise that is not committed": {"1", "lost", func(l learner) {
			l.git(l.home.Root, "rm", "-r", "--quiet", "--cached", "01-sums/lesson/exercises/lost")
			l.git(l.home.Root, "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--message", "gone")
		}, "01-sums/lesson/exercises/lost is not committed yet, and a copy is made from the last commit; commit it first"},
		"an exercise that is not complete": {"1", "lost", func(l learner) {
			require.NoError(l, os.Remove(l.home.Path("01-sums", "lesson", "exercises", "lost", "judge.yaml")))
		}, "01-sums/lesson/exercises/lost is not complete: judge.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLearner(t)
			test.prepare(l)
			branches := l.git(l.home.Root, "branch", "--list")
			_, err := l.start(test.number, test.name)
			require.ErrorContains(t, err, test.want)

			assert.Equal(t, branches, l.git(l.home.Root, "branch", "--list"), "a branch is left behind")
			assert.NotContains(t, l.git(l.home.Root, "worktree", "list"), ".workshop", "a worktree is left behind")
			assert.False(t, exists(l.progressFile()), "it counts as started")
			if path := l.copyPath("1-lost", "notes.txt"); exists(path) {
				assert.Equal(t, "mine", repositorytest.Read(t, path))
			}
		})
	}
}

// A filter of the learner's makes the checkout slow.
func TestAStartThatIsInterruptedLeavesNothing(t *testing.T) {
	l := newLearner(t)
	gate := t.TempDir()
	began, goOn := filepath.Join(gate, "began"), filepath.Join(gate, "go")
	l.git(l.home.Root, "config", "filter.slow.smudge", "touch "+began+"; while [ ! -e "+goOn+" ]; do sleep 0.02; done; cat")
	repositorytest.Write(t, l.home.Path(".git", "info", "attributes"), "*.go filter=slow\n")
	ctx, interrupt := context.WithCancel(t.Context())
	started := make(chan error, 1)
	go func() { started <- l.open(&bytes.Buffer{}).start(ctx, "1", "lost") }()
	require.Eventually(t, func() bool { return exists(began) }, sessionTimeout, 10*time.Millisecond)
	interrupt()
	repositorytest.Write(t, goOn, "")
	require.ErrorIs(t, wait(t, started, "the end"), context.Canceled)
	assert.NotContains(t, l.git(l.home.Root, "worktree", "list"), ".workshop")
	assert.Empty(t, l.git(l.home.Root, "branch", "--list", "exercise/*"))
	l.mustStart("1", "lost")
}

func TestACloneThatWasMovedHasItsCopies(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	l.solve()
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Rename(l.home.Root, elsewhere))
	root, err := filepath.EvalSymlinks(elsewhere)
	require.NoError(t, err)
	l.home.Root, l.cwd = root, root
	out, err := l.check("")
	require.NoError(t, err, out)

	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	l.cwd = filepath.Join(link, "01-sums")
	p := l.open(&bytes.Buffer{})
	assert.Equal(t, 1, p.stageOf(p.cwd), "in a folder that has two names")
}

// A copy stays as it is when the workshop changes, and this program may be the older one.
func TestACopyOfANewerVersionIsJudged(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	exercisetest.Edit(t, l.copyPath("1-lost", "01-sums", "lesson", "exercises", "lost", "judge.yaml"), "tests:\n", "later: [x]\ntests:\n")
	l.git(l.copyPath("1-lost"), "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--all", "--message", "newer")
	l.git(l.copyPath("1-lost"), "update-ref", "refs/broken/1-lost", "HEAD")
	_, err := l.hint(false)
	require.NoError(t, err)
	_, err = l.check("")
	require.ErrorIs(t, err, ErrNotYet)
}

func TestWhatPassedInACopyThatIsGoneDoesNotCount(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	l.solve()
	_, err := l.check("")
	require.NoError(t, err)
	require.Equal(t, 1, l.progress().of("1-lost").Passed)
	l.git(l.home.Root, "worktree", "remove", "--force", l.copyPath("1-lost"))
	l.git(l.home.Root, "branch", "-D", "exercise/1-lost")
	l.mustStart("1", "lost")
	assert.Zero(t, l.progress().of("1-lost").Passed)
	assert.NotZero(t, l.progress().of("1-lost").Solved)
}
