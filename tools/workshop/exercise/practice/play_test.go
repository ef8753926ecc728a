package practice

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestAStepThatWasPlayedIsDoneAndReported(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	var out bytes.Buffer
	p := l.open(&out)
	require.EqualError(t, p.play(t.Context(), &lesson.Player{}, "7", 1, strings.NewReader(""), true), `there is no lesson "7"; the lessons are: 1`)
	require.EqualError(t, p.play(t.Context(), &lesson.Player{}, "", 1, strings.NewReader(""), true), "name the lesson: 1")
	require.ErrorContains(t, p.play(t.Context(), &lesson.Player{}, "1", 3, strings.NewReader(""), true), "name the last step of stage 1 to play, such as --to=2:\n  1  Make a\n  2  Make b")

	repositorytest.Write(t, l.home.Path("01-sums", "a"), "")
	require.NoError(t, p.step(t.Context(), "1", "1"))
	lessons, err := p.lessons()
	require.NoError(t, err)
	for _, step := range lessons[0].Steps {
		require.NoError(t, p.played(lessons[0], step))
	}
	require.NoError(t, p.report(t.Context()))
	assert.Contains(t, out.String(), "| 1 | 2 of 2 (1 of them with workshop play) |\n", "the learner has done step 1")
}
