package practice

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestTheListSaysHowFarTheLearnerIs(t *testing.T) {
	l := newLearner(t)
	assert.Equal(t, `  STAGE  NAME      LEVEL  MINUTES  STATE
  1      lost      1      5        new
  1      smallest  2      5        new
  1      silent    3      5        new
`, l.list())
	l.mustStart("1", "smallest")
	l.mustStart("1", "lost")
	_, err := l.hint(false)
	require.NoError(t, err)
	assert.Equal(t, `  STAGE  NAME      LEVEL  MINUTES  STATE
* 1      lost      1      5        started, 1 hint
  1      smallest  2      5        started
  1      silent    3      5        new
`, l.list())

	require.NoError(t, os.Remove(l.home.Path("01-sums", "lesson", "exercises", "silent", "hints.md")))
	assert.Contains(t, l.list(), "01-sums/lesson/exercises/silent is not complete: hints.md has 0 hints")
}

func TestAProgressThatCannotBeReadIsPutAside(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	for _, content := range []string{`{"current": "1-lo`, "", "null", "{}", `{"exercises": {"1-lost": 7}}`} {
		repositorytest.Write(t, l.progressFile(), content)
		out, err := l.hint(false)
		require.NoError(t, err)
		aside := l.asideFiles()
		assert.Contains(t, out, ".workshop/progress.json cannot be read (")
		assert.Contains(t, out, "It is .workshop/progress.json.broken-")
		assert.Equal(t, content, repositorytest.Read(t, aside[len(aside)-1]))
		assert.Equal(t, 1, l.progress().of("1-lost").Hints)
		assert.Equal(t, "1-lost", l.progress().Current)
	}
	assert.Len(t, l.asideFiles(), 5)
}

func TestAProgressThatIsGoneIsSaidOnce(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	l.mustStart("1", "silent")
	require.NoError(t, os.Remove(l.progressFile()))
	_, err := l.hint(false)
	require.EqualError(t, err, "say which exercise; started are: 1-lost, 1-silent")

	require.NoError(t, os.Remove(l.progressFile()))
	assert.Contains(t, l.list(), ".workshop/progress.json is missing, though exercises are started: tries and hints count from nought.")
	assert.NotContains(t, l.list(), "missing")
	assert.Contains(t, l.list(), "lost      1      5        started")
}

func TestAnExerciseWithoutARecordHasNone(t *testing.T) {
	l := newLearner(t)
	repositorytest.Write(t, l.progressFile(), `{"exercises": {"1-lost": null}}`)
	var out bytes.Buffer
	progress, err := l.open(&out).progress(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Record{}, *progress.of("1-lost"))
}

func TestAProgressThatCannotBeWrittenIsAnError(t *testing.T) {
	l := newLearner(t)
	repositorytest.Write(t, l.home.Path(".workshop"), "a file where the folder belongs")
	var out bytes.Buffer
	require.ErrorContains(t, l.open(&out).write(Progress{}), "writing your progress")
}
