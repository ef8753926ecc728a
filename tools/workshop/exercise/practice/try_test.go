package practice

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

const lessonWithTries = "# Stage 1: sums\n\n## Why\n\n## Step 1: Make a\n\n**Now you:** `none`. Of no number\nthe largest is 0.\n\n## Step 2: Make b\n\n**Now you:** `twice`. Count each twice.\n"

func (l learner) try(name string) sitting {
	l.Helper()
	return l.sit(func(p practice, in io.Reader) error { return p.try(l.Context(), name, in, nil, sessionTimeout) })
}

func TestTriesShareACopy(t *testing.T) {
	l := newLearner(t)
	exercisetest.AddTries(t, l.home)
	repositorytest.Write(t, l.home.Path("01-sums", "README.md"), lessonWithTries)
	exercisetest.Edit(t, l.home.Path("01-sums", "lesson", "exercises", "tries", "judge.yaml"), "write: [sum/sum.go]", "write: [sum/sum.go, go.mod]")
	require.NoError(t, l.home.Commit(t.Context(), "lesson"))
	sum := l.copyPath("1-tries", "01-sums", "sum", "sum.go")

	l.mustStart("1", "lost")
	s := l.try("none")
	s.next("This try is of 01-sums/README.md. The copy of 1-lost stays as it is; to go back to it: bin/workshop watch 1-lost\n")
	s.next("\nnone (about 2 minutes)\n\nOf no number\nthe largest is 0.\n\n  lesson    01-sums/README.md:7, step 1\n  write in  .workshop/1-tries/01-sums/sum/sum.go\n")
	assert.NotContains(t, s.text(), "01-sums/go.mod", "which no try is about")
	s.next("1/2 none\n\n  fails: TestTryNone (./sum)\n    Of no number the largest is 0.\n")
	s.next("Not yet: 0 of 2 tries pass. For a hint: h\n")
	s.press("h")
	s.next("Hint 1 of 1 for none\n\nThere is no numbers[0].\n")
	exercisetest.Edit(t, sum, "\tlargest := numbers[0]\n", "\tlargest := 0\n")
	s.next("none passes, after")
	s.next("1 of 2 tries pass. Go on in 01-sums/README.md\nThe next one there: bin/workshop try twice\n")
	s.end()

	s = l.try("twice")
	s.next("twice (about 1 minute)\n\nCount each twice.\n\n  lesson    01-sums/README.md:12, step 2\n")
	s.next("twice the sum is 3, not 6")
	s.press("s")
	s.next("This solves twice; any other code that passes is as good.")
	exercisetest.Edit(t, sum, "total += n", "total += n + n")
	s.next("Well done, that was the last try of this lesson. Go on in 01-sums/README.md")
	s.end()
	assert.Contains(t, repositorytest.Read(t, sum), "largest := 0", "one builds on the other")
	s = l.try("twice")
	s.next("twice has passed, and its code is in .workshop/1-tries. To begin the tries of this lesson again: bin/workshop reset 1-tries\n")
	s.end()
	assert.Regexp(t, `\* 1\s+tries\s+try\s+3\s+solved, 1 hint\n`, l.list())
}

// Its place is found by the learner who looks for what to change, not by the one who runs the generator.
func TestAGeneratedFileIsNotToBeWritten(t *testing.T) {
	l := newLearner(t)
	exercisetest.AddTries(t, l.home)
	l.mustStart("1", "tries")
	sum := l.copyPath("1-tries", "01-sums", "sum", "sum.go")
	repositorytest.Write(t, sum, "//    controller-gen.kubebuilder.io/version: v0.23.0\n\n"+repositorytest.Read(t, sum))
	s := l.try("none")
	s.next("Not yet: 0 of 2 tries pass.")
	assert.NotContains(t, s.text(), "write in")
	s.quit()
}

func TestWhatWasNotTriedIsShown(t *testing.T) {
	for name, test := range map[string]struct{ old, replacement, kept string }{
		"upon what is there":                 {"// Sum adds numbers.", "// Sum adds all numbers.", "adds all numbers"},
		"in the place of what is in its way": {"\tlargest := numbers[0]\n", "\tlargest := numbers[1]\n", "largest := numbers[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLearner(t)
			exercisetest.AddTries(t, l.home)
			l.mustStart("1", "tries")
			sum := l.copyPath("1-tries", "01-sums", "sum", "sum.go")
			exercisetest.Edit(t, sum, test.old, test.replacement)
			s := l.try("twice")
			s.next("The copy now has the solution of none.")
			s.next("Not yet: 1 of 2 tries pass")
			assert.Contains(t, repositorytest.Read(t, sum), "if len(numbers) == 0")
			assert.Contains(t, repositorytest.Read(t, sum), test.kept)
			s.quit()
			assert.Equal(t, []string{"none"}, l.progress().of("1-tries").Shown)
		})
	}
}

func TestTheSolutionOfATryIsAPatch(t *testing.T) {
	l := newLearner(t)
	exercisetest.AddTries(t, l.home)
	l.mustStart("1", "tries")
	_, err := l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	out, err := l.solution(false)
	require.NoError(t, err)
	assert.Contains(t, out, "This solves none; any other code that passes is as good. To put it into the copy: bin/workshop solution --apply\n\n@@")
	assert.Contains(t, out, "+\tif len(numbers) == 0 {")
	out, err = l.solution(true)
	require.NoError(t, err)
	assert.Contains(t, out, "The copy now has the solution of none.")
	out, err = l.check("")
	require.ErrorIs(t, err, ErrNotYet)
	assert.Contains(t, out, "Not yet: 1 of 2 tries pass")
	_, err = l.solution(true)
	require.NoError(t, err)
	_, err = l.check("")
	require.NoError(t, err)
	s := l.try("thrice")
	require.EqualError(t, wait(t, s.ended, "the end"), `there is no try "thrice"; did you mean twice?`)
}
