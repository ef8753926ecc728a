package practice

import (
	"bytes"
	"os"
	"regexp"
	"sync"
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
		assert.Contains(t, out, "It is now .workshop/progress.json.broken-")
		assert.Equal(t, content, repositorytest.Read(t, aside[len(aside)-1]))
		assert.Equal(t, 1, l.progress().of("1-lost").Hints)
		assert.Equal(t, "1-lost", l.progress().Current)
	}
	assert.Len(t, l.asideFiles(), 5)
}

func TestAMissingProgressIsReportedOnce(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	l.mustStart("1", "silent")
	require.NoError(t, os.Remove(l.progressFile()))
	_, err := l.hint(false)
	require.EqualError(t, err, "name the exercise; started are: 1-lost, 1-silent")

	require.NoError(t, os.Remove(l.progressFile()))
	assert.Contains(t, l.list(), ".workshop/progress.json is missing, although exercises are started: tries and hints count from 0.")
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
	require.ErrorContains(t, l.open(&out).record("1-lost", func(*Record) {}), "writing your progress")
}

func TestTwoCommandsAtOnceLoseNothing(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	const each = 50
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range each {
				var out bytes.Buffer
				assert.NoError(t, l.open(&out).record("1-lost", func(r *Record) { r.Tries++ }))
			}
		})
	}
	both.Wait()
	assert.Equal(t, 2*each, l.progress().of("1-lost").Tries)
}

func TestFieldsOfAnotherVersionStay(t *testing.T) {
	l := newLearner(t)
	l.mustStart("1", "lost")
	repositorytest.Write(t, l.progressFile(), `{
  "current": "1-lost",
  "lessons": {"1": [1, 12345678901234567890]},
  "exercises": {"1-lost": {"hints": 1, "tries": 0, "group": {"at": 2}}, "9-new": {"score": 7}}
}`)
	_, err := l.hint(false)
	require.NoError(t, err)
	l.mustStart("1", "silent")
	content := regexp.MustCompile(`"started": "[^"]*"`).ReplaceAllString(repositorytest.Read(t, l.progressFile()), `"started": "now"`)
	//nolint:testifylint // JSONEq would round the long number
	assert.Equal(t, `{
  "current": "1-silent",
  "exercises": {
    "1-lost": {
      "group": {
        "at": 2
      },
      "hints": 2,
      "tries": 0
    },
    "1-silent": {
      "started": "now"
    },
    "9-new": {
      "score": 7
    }
  },
  "lessons": {
    "1": [
      1,
      12345678901234567890
    ]
  }
}
`, content)
}
