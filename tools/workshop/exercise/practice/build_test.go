package practice

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// AddBuild's exercise, in which the learner writes a test, too.
func TestALearnerMayWriteATest(t *testing.T) {
	l := newLearner(t)
	repositorytest.Write(t, l.home.Path("01-sums", "sum", "own_test.go"), "package sum\n")
	require.NoError(t, l.home.Commit(t.Context(), "a place for a test"))
	exercisetest.AddBuild(t, l.home)
	exercisetest.Edit(t, l.home.Path("01-sums/lesson/exercises/build/judge.yaml"), "write: [sum/sum.go]", "write: [sum/sum.go, sum/own_test.go]")
	require.NoError(t, l.home.Commit(t.Context(), "which the learner writes"))
	l.mustStart("1", "build")

	repositorytest.Write(t, l.copyPath("1-build", "01-sums", "sum", "own_test.go"), "package sum\n\nconst own = 1\n")
	_, err := l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	repositorytest.Write(t, l.copyPath("1-build", "01-sums", "sum", "sum_test.go"), "package sum\n")
	_, err = l.check("")
	require.ErrorContains(t, err, "these files have changed: '01-sums/sum/sum_test.go';")
}

func TestAnExerciseIsBuiltGroupByGroup(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "/somewhere")
	l := newLearner(t)
	exercisetest.AddBuild(t, l.home)
	assert.Contains(t, l.mustStart("1", "build"), "Write in:\n  .workshop/1-build/01-sums/sum/sum.go\n")
	file := l.copyPath("1-build", "01-sums", "sum", "sum.go")

	out, err := l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Equal(t, `1-build: Write a sum

1/2 The sum

  fails: TestSum (./sum)
    A sum is of all numbers.
      sum_test.go:13: the sum is 0, not 3

2/2 The largest

Not yet: 0 of 2 groups pass. For a hint: bin/workshop hint
`, out)
	out, err = l.hint(false)
	require.NoError(t, err)
	assert.Equal(t, "Hint 1 of 2 for The sum\n\nBegin with 0.\n\n1 hint is left: bin/workshop hint\n", out)

	exercisetest.Edit(t, file, "func Sum(numbers ...int) int { return 0 }", "func Sum(numbers ...int) (total int) {\n\tfor _, n := range numbers {\n\t\ttotal += n\n\t}\n\treturn total\n}")
	out, err = l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Equal(t, `1-build: Write a sum
1/2 The sum passes. Running the next group ...

1/2 The sum

  passes: TestSum (./sum)

2/2 The largest

  fails: TestMax (./sum)
    The largest is one of them.
      sum_test.go:21: the largest is 0, not 3

Not yet: 1 of 2 groups pass. For a hint: bin/workshop hint
`, out)
	out, err = l.hint(false)
	require.NoError(t, err)
	assert.Contains(t, out, "Hint 1 of 2 for The largest\n\nBegin with the first.\n")
	assert.Equal(t, 2, l.progress().of("1-build").Hints)

	// What does not compile has no groups, so the current one stays.
	exercisetest.Edit(t, file, "total += n", "total += m")
	out, err = l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Contains(t, out, "The code does not compile yet.\n\nNot yet: 1 of 2 groups passed before.")
	// One that passed before and fails now is the current one again.
	exercisetest.Edit(t, file, "total += m", "total = n")
	out, err = l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Contains(t, out, "2/2 The largest\n\nNot yet: 0 of 2 groups pass.")

	_, err = l.solution(true)
	require.NoError(t, err)
	out, err = l.check("")
	require.NoError(t, err, out)
	assert.Contains(t, out, "passes: TestMax (./sum)\n\nWell done, it is solved. The workshop's code, and the reasons for it: bin/workshop solution\n")
	assert.NotZero(t, l.progress().of("1-build").Solved)
	out, err = l.solution(false)
	require.NoError(t, err)
	assert.Contains(t, out, "# A loop each\n\nEach number is looked at once.\n\nThis is the workshop's code; any other that passes is as good.")
}
