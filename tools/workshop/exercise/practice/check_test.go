package practice

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestAnExerciseIsTriedHelpedAndSolved(t *testing.T) {
	began := now()
	t.Setenv("KUBEBUILDER_ASSETS", "/somewhere")
	l := newLearner(t)
	l.mustStart("1", "lost")

	_, err := l.solution(false)
	require.EqualError(t, err, "the solution is available after your first try; to try: bin/workshop check")

	out, err := l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Equal(t, `1-lost: Something is lost

  fails: TestSum/of_two (./sum)
    The code has to be right.
      sum_test.go:13: the sum is 2, not 3

Not yet: 0 of 1 pass. For a hint: bin/workshop hint
`, out)

	out, err = l.hint(false)
	require.NoError(t, err)
	assert.Equal(t, "Hint 1 of 2\n\nLook at sum/sum.go.\n\n1 hint is left: bin/workshop hint\n", out)

	exercisetest.Edit(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go"), "total = n", "total = total + m")
	out, err = l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Contains(t, out, "sum/sum.go:8:19: undefined: m\n\nThe code does not compile yet.\n\nNot yet: 0 of 1 pass. For a hint: ")

	exercisetest.Edit(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go"), "total + m", "total + n")
	out, err = l.check("")
	require.NoError(t, err, out)
	assert.Equal(t, `1-lost: Something is lost

  passes: TestSum/of_two (./sum)

Well done, it is solved. What was wrong, and why it matters: bin/workshop solution
Next: make exercise N=1 NAME=smallest   (Something is smallest)
`, out)
	record := l.progress().of("1-lost")
	assert.Equal(t, 3, record.Tries)
	assert.Equal(t, 1, record.Hints)
	assert.WithinRange(t, record.Solved, began, time.Now())
	assert.Zero(t, record.SolutionSeen)

	_, err = l.solution(false)
	require.NoError(t, err)
	assert.Zero(t, l.progress().of("1-lost").SolutionSeen, "it was solved before")
}

func TestASolutionThatBreaksSomethingElse(t *testing.T) {
	l := newLearner(t)
	exercisetest.Edit(t, l.home.Path("01-sums", "lesson", "exercises", "lost", "judge.yaml"), "tests:\n",
		"keeps: [{package: ./sum, test: TestMax, because: The largest is found.}]\ntests:\n")
	require.NoError(t, l.home.Commit(t.Context(), "it keeps something"))
	l.mustStart("1", "lost")
	l.solve()
	sum := l.copyPath("1-lost", "01-sums", "sum", "sum.go")
	exercisetest.Edit(t, sum, "n > largest", "n < largest")
	out, err := l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Contains(t, out, "fails: TestMax (./sum)\n    The largest is found.\n")
	assert.Contains(t, out, "Not yet: 1 of 2 pass.")
	exercisetest.Edit(t, sum, "n < largest", "n > largest")
	out, err = l.check("")
	require.NoError(t, err, out)
}

func TestTheLastExerciseHasNoNext(t *testing.T) {
	l := newLearner(t)
	for _, name := range []string{"smallest", "silent"} {
		require.NoError(t, os.RemoveAll(l.home.Path("01-sums", "lesson", "exercises", name)))
	}
	require.NoError(t, l.home.Commit(t.Context(), "one is enough"))
	l.mustStart("1", "lost")
	l.solve()
	out, err := l.check("")
	require.NoError(t, err)
	assert.Contains(t, out, "You have solved all exercises.")
}

func TestTheTestsAreTheJudge(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	tests := l.copyPath("1-lost", "01-sums", "sum", "sum_test.go")
	want := "the tests decide, and these files have changed: '01-sums/sum/sum_test.go'; to restore them: " +
		"git -C '.workshop/1-lost' checkout broken/1-lost -- '01-sums/sum/sum_test.go'"
	for name, change := range map[string]func(){
		"changed": func() { exercisetest.Edit(t, tests, "want := 3", "want := Sum(numbers...)") },
		"deleted": func() { require.NoError(t, os.Remove(tests)) },
		"committed": func() {
			exercisetest.Edit(t, tests, "want := 3", "want := Sum(numbers...)")
			l.git(l.copyPath("1-lost"), "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--all", "--message", "mine")
		},
	} {
		t.Run(name, func(t *testing.T) {
			change()
			_, err := l.check("")
			require.EqualError(t, err, want)
			l.git(l.home.Root, "-C", ".workshop/1-lost", "checkout", "broken/1-lost", "--", "01-sums/sum/sum_test.go")
		})
	}
	exercisetest.Edit(t, l.copyPath("1-lost", "01-sums", "lesson", "exercises", "lost", "judge.yaml"), "TestSum/of_two", "TestMax")
	_, err := l.check("")
	require.ErrorContains(t, err, "'01-sums/lesson/exercises/lost/judge.yaml'")
	assert.Zero(t, l.progress().of("1-lost").Tries)
}

// It fails, and go vet complains of it.
func TestATestOfTheLearnersOwnIsWelcome(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	repositorytest.Write(t, l.copyPath("1-lost", "01-sums", "sum", "mine_test.go"), "package sum\n\nimport \"testing\"\n\nfunc TestMine(t *testing.T) { t.Errorf(\"%d\", \"boo\") }\n")
	l.solve()
	_, err := l.check("")
	require.NoError(t, err)
}

func TestACheckHasADeadline(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	exercisetest.Edit(t, l.copyPath("1-lost", "01-sums", "sum", "sum.go"), "total = n", "for total = n; ; {\n\t\t}")
	out, err := l.do("", func(p practice, c workCopy) error { return p.check(t.Context(), c, 15*time.Second) })
	require.ErrorIs(t, err, ErrNotYet)
	assert.Contains(t, out, "The tests were stopped after 15s: something waits forever, or loops forever.")
	assert.Equal(t, 1, l.progress().of("1-lost").Tries)
}
