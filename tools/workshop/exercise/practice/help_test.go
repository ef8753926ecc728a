package practice

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// triedOnce is a learner with the exercise called lost, after a first try.
func triedOnce(t *testing.T) learner {
	t.Helper()
	l := newLearner(t)
	l.mustStart("1", "lost")
	require.NoError(t, l.open(nil).record("1-lost", func(r *Record) { r.Tries = 1 }))
	return l
}

func TestHintsComeOneByOne(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	for _, hint := range []struct {
		again bool // without a new one
		want  string
	}{
		{true, "You have seen no hint yet.\n2 hints are left: bin/workshop hint\n"},
		{false, "Hint 1 of 2\n\nLook at sum/sum.go.\n\n1 hint is left: bin/workshop hint\n"},
		{true, "Hint 1 of 2\n\nLook at sum/sum.go.\n\n1 hint is left: bin/workshop hint\n"},
		{false, "Hint 2 of 2\n\n```sh\n## no heading\n```\n\nNo hint is left. The solution, after your first try: bin/workshop solution\n"},
		{false, "You have seen all hints. To see them again: bin/workshop hint --all\nNo hint is left. The solution, after your first try: bin/workshop solution\n"},
	} {
		out, err := l.hint(hint.again)
		require.NoError(t, err)
		assert.Equal(t, hint.want, out)
	}
	assert.Equal(t, 2, l.progress().of("1-lost").Hints)
}

func TestTheSolutionIsShownAndNotApplied(t *testing.T) {
	l := triedOnce(t)
	out, err := l.solution(false)
	require.NoError(t, err)
	assert.Contains(t, out, "# It was total = n\n\nIt has to be total += n.\n\nThis is the fix; any other that passes is as good. To apply it: bin/workshop solution --apply\n\ndiff --git a/01-sums/sum/sum.go")
	assert.Contains(t, out, "\n-\t\ttotal = n\n+\t\ttotal += n\n")
	assert.Empty(t, l.git(l.copyPath("1-lost"), "status", "--porcelain"))
	assert.NotZero(t, l.progress().of("1-lost").SolutionSeen)
	assert.Contains(t, l.list(), "started, solution seen")
}

func TestTheSolutionIsMadeOnceTheLearnersOwnIsSaved(t *testing.T) {
	l := triedOnce(t)
	exercisetest.Edit(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go"), "total = n", "total = 7")
	out, err := l.solution(true)
	require.NoError(t, err)
	assert.Contains(t, out, "Your changes are kept in .workshop/1-lost-1.patch\n")
	assert.Contains(t, repositorytest.Read(t, l.copyPath("1-lost-1.patch")), "+\t\ttotal = 7")
	assert.Contains(t, l.git(l.copyPath("1-lost"), "diff"), "+\t\ttotal += n")
	_, err = l.check("")
	require.NoError(t, err)
	assert.Contains(t, l.list(), "solved, solution seen")
}

func TestResettingKeepsWhatWasChanged(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	dir := l.copyPath("1-lost")
	out, err := l.reset("")
	require.NoError(t, err)
	assert.Equal(t, "1-lost has no changes to reset.\n", out)

	// What is committed, changed, new and deleted; and on another branch.
	l.git(dir, "switch", "--quiet", "-c", "mine")
	l.solve()
	l.git(dir, "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--all", "--message", "mine")
	repositorytest.Write(t, l.copyPath("1-lost", "01-sums", "new", "new.go"), "package new\n")
	repositorytest.Write(t, l.copyPath("1-lost", "01-sums", "words", "words.go"), "package words // \x00\n")
	out, err = l.reset("1/lost")
	require.NoError(t, err)
	assert.Equal(t, "1-lost is reset. Your changes are kept in .workshop/1-lost-1.patch\nTo bring them back: git -C '.workshop/1-lost' apply '../1-lost-1.patch'\n", out)
	assert.Empty(t, l.git(dir, "status", "--porcelain"))
	assert.Empty(t, l.git(dir, "diff", "broken/1-lost"))
	assert.Equal(t, "exercise/1-lost", l.git(dir, "branch", "--show-current"))
	assert.Equal(t, "mine", l.git(dir, "log", "-1", "--format=%s", "mine"), "the learner's branch is moved")

	// It can be had again, and the next patch gets another name.
	l.git(dir, "apply", l.copyPath("1-lost-1.patch"))
	assert.Contains(t, repositorytest.Read(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go")), "total = total + n")
	assert.True(t, exists(l.copyPath("1-lost", "01-sums", "new", "new.go")))
	out, err = l.reset("lost")
	require.NoError(t, err)
	assert.Contains(t, out, ".workshop/1-lost-2.patch")
}

func TestResettingKeepsCommits(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	dir := l.copyPath("1-lost")
	commit := func(message string) {
		repositorytest.Write(t, l.copyPath("1-lost", message+".txt"), message)
		l.git(dir, "add", "--all")
		l.git(dir, "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--message", message)
	}
	// Two on the branch of the exercise, which is left then; and one on no branch.
	commit("one")
	commit("two")
	l.git(dir, "checkout", "--quiet", "--detach", "broken/1-lost")
	commit("three")
	out, err := l.reset("")
	require.NoError(t, err)
	assert.Equal(t, `Your commits are kept on the branch kept/1-lost-1
Your commits are kept on the branch kept/1-lost-2
1-lost is reset. Your changes are kept in .workshop/1-lost-1.patch
To bring them back: git -C '.workshop/1-lost' apply '../1-lost-1.patch'
`, out)
	assert.Equal(t, "three", l.git(dir, "log", "--format=%s", "broken/1-lost..kept/1-lost-1"))
	assert.Equal(t, "two\none", l.git(dir, "log", "--format=%s", "broken/1-lost..kept/1-lost-2"))
	assert.Empty(t, l.git(dir, "status", "--porcelain"))

	// Only once.
	l.git(dir, "reset", "--quiet", "--hard", "kept/1-lost-2")
	out, err = l.reset("")
	require.NoError(t, err)
	assert.NotContains(t, out, "kept/")
}

func TestACopyIsOutdatedByTheModuleBesideTheStage(t *testing.T) {
	l := newLearner(t)
	exercisetest.AddBeside(t, l.home)
	out := l.mustStart("1", "beside")
	assert.Contains(t, out, ".workshop/1-beside/lab/count/count.go")
	out, err := l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Contains(t, out, "it is 11")

	exercisetest.Edit(t, l.home.Path("lab", "count", "count.go"), "has a number", "has one number")
	require.NoError(t, l.home.Commit(t.Context(), "new version"))
	assert.Contains(t, l.mustStart("1", "beside"), "The workshop has changed since you started.")

	exercisetest.Edit(t, l.copyPath("1-beside", "lab", "count", "count_test.go"), "!= 10", "!= 11")
	_, err = l.check("")
	require.ErrorContains(t, err, "these files have changed: 'lab/count/count_test.go'")
}

func TestANewVersionTakesNothingAway(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	assert.NotContains(t, l.mustStart("1", "lost"), "has changed")
	l.solve()

	// The workshop is updated: the copy stays as it is.
	exercisetest.Edit(t, l.home.Path("01-sums", "words", "words.go"), "puts commas between", "separates by commas")
	require.NoError(t, l.home.Commit(t.Context(), "new version"))
	assert.Contains(t, l.mustStart("1", "lost"), "The workshop has changed since you started. To start again with the new version: bin/workshop reset (your changes are kept)")
	sum, words := l.copyPath("1-lost", "01-sums", "sum", "sum.go"), l.copyPath("1-lost", "01-sums", "words", "words.go")
	assert.Contains(t, repositorytest.Read(t, sum), "total = total + n")
	assert.NotContains(t, repositorytest.Read(t, words), "separates")

	out, err := l.reset("")
	require.NoError(t, err)
	assert.Equal(t, `1-lost is reset. Your changes are kept in .workshop/1-lost-1.patch
To bring them back: git -C '.workshop/1-lost' apply '../1-lost-1.patch'
The workshop has changed since you started; the copy is now made from your last commit.
`, out)
	assert.Contains(t, repositorytest.Read(t, words), "separates")
	assert.Contains(t, repositorytest.Read(t, sum), "total = n")
	assert.Empty(t, l.git(l.copyPath("1-lost"), "status", "--porcelain"))
	assert.NotContains(t, l.mustStart("1", "lost"), "has changed")

	// What was done fits the new version, and is not lost by another one that cannot be made.
	l.git(l.copyPath("1-lost"), "apply", l.copyPath("1-lost-1.patch"))
	exercisetest.Edit(t, l.home.Path("01-sums", "sum", "sum.go"), "total += n", "total = total + n")
	require.NoError(t, l.home.Commit(t.Context(), "does not fit"))
	out, err = l.reset("")
	require.ErrorContains(t, err, "does not apply to the code of this commit")
	assert.Contains(t, out, ".workshop/1-lost-2.patch")
	assert.Contains(t, repositorytest.Read(t, sum), "total = n")
	assert.Contains(t, repositorytest.Read(t, words), "separates")
}
