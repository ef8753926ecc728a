package practice

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// addTracks adds a lesson, and two tracks that have the exercises in an order of their own.
func addTracks(l learner) {
	l.Helper()
	repositorytest.Write(l, l.home.Path("START.md"), "# Start\n")
	repositorytest.Write(l, l.home.Path(track.File), `
minutes: {START.md: [10], 01-sums: [2, 3, 4, 5]}
tracks:
- {name: hour, title: an hour, items: [START.md, 'exercise:01-sums/silent', break 15, 01-sums, 'exercise:01-sums/lost may']}
- {name: deep, title: everything, items: [START.md, 01-sums with tries, 'exercise:01-sums/silent', 'exercise:01-sums/lost', 'exercise:01-sums/smallest']}
`)
	addLesson(l)
}

func TestATrackIsFollowed(t *testing.T) {
	l := newLearner(t)
	addTracks(l)
	s := l.learn(t.Context())
	s.next("How much time do you have?\n  1  an hour (29 min without breaks)\n  2  everything (39 min without breaks)\n")
	s.press("7")
	s.next("Press a number from 1 to 2, or q to quit.")
	s.press("1")
	s.next("[an hour, 1 of 4] START.md (about 10 minutes)\n  read      START.md\n")
	s.press("c")
	s.next("START.md has no step left to check; n goes on")
	s.press("x")
	s.next(readingHelp)
	s.press("n")
	s.next("1-silent: Something is silent")
	s.next("[an hour, 2 of 4] 1-silent: waiting for you to save a file")
	s.press("n")
	s.next("[an hour, 3 of 4] 1: sums: all steps (about 14 minutes)\n  read      01-sums/README.md\n")
	s.press("b")
	s.next("[an hour, 1 of 4] START.md")
	s.press("b")
	s.next("[an hour, 1 of 4] START.md") // there is nothing before it
	s.press("n")
	s.next("1-silent: Something is silent")
	s.press("b")
	s.next("[an hour, 1 of 4] START.md")
	s.press("l")
	s.next("\nan hour\n*  1  START.md (about 10 minutes)\n   2  exercise `silent` (about 5 minutes)\n   3  1: sums: all steps (about 14 minutes)\n   4  exercise `lost` (about 5 minutes, optional)\n")
	s.press("n")
	s.next("1-silent: Something is silent")
	s.press("n")
	s.next("[an hour, 3 of 4] 1: sums")
	s.quit()

	// The next time it begins there, and doesn't ask.
	s = l.learn(t.Context())
	s.next("[an hour, 3 of 4] 1: sums")
	assert.NotContains(t, s.text(), "How much time")
	s.press("c")
	s.next("not yet: there is no a\n")
	for _, file := range []string{"a", "b"} {
		repositorytest.Write(t, l.home.Path("01-sums", file), "")
		s.press("c")
		s.next("  done\n")
	}
	s.next("1-lost: Something is lost (level 1, about 5 minutes, optional: n leaves it out)")
	s.press("n")
	s.next("1-silent: Something is silent") // which was left out
	s.quit()
	assert.Equal(t, "hour", l.progress().Track)
}

func TestATrackHasAnEnd(t *testing.T) {
	l := newLearner(t)
	addTracks(l)
	var quiet bytes.Buffer
	p := l.open(&quiet)
	require.EqualError(t, p.take("week"), `there is no track "week"; there is: hour, deep`)
	require.NoError(t, p.take("hour"))
	for _, id := range []string{"1-lost", "1-silent"} {
		require.NoError(t, p.record(id, func(r *Record) { r.Solved = now() }))
	}
	require.NoError(t, p.update(func(progress *Progress) { progress.Steps = map[string][]int{"1": {1, 2}} }))
	s := l.learn(t.Context())
	s.next("[an hour, 1 of 4] START.md")
	s.press("n")
	s.next("That was all of an hour. To go on: make learn TRACK=deep\n")
	s.end()

	// Another track begins at its beginning.
	l.mustStart("1", "smallest")
	require.NoError(t, p.take("deep"))
	s = l.learn(t.Context())
	s.next("[everything, 1 of 5] START.md")
	require.NoError(t, s.keys.Close())
	s.end()
}

func TestOneBeginsInTheMiddle(t *testing.T) {
	l := newLearner(t)
	addTracks(l)
	var quiet bytes.Buffer
	p := l.open(&quiet)
	require.EqualError(t, p.from(t.Context(), "7"), `there is no lesson "7"; the lessons are: 1`)
	require.NoError(t, p.from(t.Context(), "01"))
	s := l.learn(t.Context())
	s.next("[everything, 2 of 5] 1: sums") // without a track
	require.NoError(t, s.keys.Close())
	s.end()

	require.NoError(t, p.take("hour"))
	l.mustStart("1", "smallest")
	require.NoError(t, p.from(t.Context(), "1"))
	s = l.learn(t.Context())
	s.next("[an hour, 3 of 4] 1: sums") // and not the current exercise
	require.NoError(t, s.keys.Close())
	s.end()

	repositorytest.Write(t, l.home.Path("01-sums", "README.md"), "# Stage 1: sums\n\n## Why\n\n## The parts\n\n- [One](one/README.md)\n")
	repositorytest.Write(t, l.home.Path("01-sums", "one", "README.md"), "# One\n\n## Why\n\n## Step 1: Make a\n")
	repositorytest.Write(t, l.home.Path(track.File), "tracks:\n- {name: hour, title: an hour, items: [START.md, 01-sums, 01-sums/one]}\n")
	for name, item := range map[string]string{"1": "01-sums", "1/one": "01-sums/one"} {
		require.NoError(t, p.from(t.Context(), name))
		assert.Equal(t, item, l.progress().Item, name)
	}
	repositorytest.Write(t, l.home.Path(track.File), "tracks:\n- {name: hour, title: an hour, items: [START.md]}\n")
	require.EqualError(t, p.from(t.Context(), "1"), `1 is not on the way "hour"; every lesson is on that of make learn TRACK=deep FROM=1`)
}

func TestAnExerciseOffTheWayNamesItsLesson(t *testing.T) {
	l := newLearner(t)
	addTracks(l)
	var quiet bytes.Buffer
	require.NoError(t, l.open(&quiet).take("hour"))
	l.mustStart("1", "smallest")
	s := l.learn(t.Context())
	s.next("1-smallest: waiting for you to save a file")
	for _, key := range []string{"b", "t"} {
		s.press(key)
		s.next("1-smallest is not on your way. Its lesson is 01-sums/README.md\n")
	}
	s.quit()
}

func TestTheOrderOfExercisesIsThatOfTheTracks(t *testing.T) {
	l := newLearner(t)
	addTracks(l)
	assert.Regexp(t, `(?s)silent.*lost.*smallest`, l.list())
}

func TestATryIsDoneInTheMiddleOfALesson(t *testing.T) {
	l := newLearner(t)
	addTracks(l)
	exercisetest.AddTries(t, l.home)
	repositorytest.Write(t, l.home.Path("01-sums", "README.md"), "# Stage 1: sums\n\n## Why\n\n## Step 1: Make a\n\n**Now you:** `none`. Of none.\n\n**Now you:** `twice`. Add each twice.\n\n## Step 2: Make b\n")
	require.NoError(t, l.home.Commit(t.Context(), "the lesson asks for tries"))
	var quiet bytes.Buffer
	require.NoError(t, l.open(&quiet).take("deep"))
	s := l.learn(t.Context())
	s.next("START.md")
	s.press("n")
	s.next("1: sums: all steps (about 17 minutes, 3 of them for tries)")
	repositorytest.Write(t, l.home.Path("01-sums", "a"), "")
	s.press("c")
	s.next("  done\n\nNow you: none (t)\n\nNow you: twice (t)\n\n" + readingHelp)
	s.press("t")
	s.next("none (about 2 minutes)")
	s.next("Not yet: 0 of 2 tries")
	exercisetest.Edit(t, l.copyPath("1-tries", "01-sums", "sum", "sum.go"), "\tlargest := numbers[0]\n", "\tif len(numbers) == 0 {\n\t\treturn 0\n\t}\n\tlargest := numbers[0]\n")
	s.next("none passes, after")
	s.next(readingHelp)
	s.press("t")
	s.next("twice (about 1 minute)")
	s.press("n")
	s.next(readingHelp)
	s.press("n")
	s.next("1-silent: Something is silent")
	s.press("t")
	s.next("[everything, 2 of 5] 1: sums")
	s.next("twice (about 1 minute)")
	s.quit()
}

func TestAnExerciseNamesItsOwnLesson(t *testing.T) {
	l := newLearner(t)
	addTracks(l)
	repositorytest.Write(t, l.home.Path(track.File), `
tracks:
- {name: hour, title: an hour, items: ['01-sums/two#2', 'exercise:01-sums/lost']}
`)
	repositorytest.Write(t, l.home.Path("01-sums", "README.md"), "# Stage 1: sums\n\n## Why\n\n## The parts\n\n- [One](one/README.md)\n- [Two](two/README.md)\n")
	repositorytest.Write(t, l.home.Path("01-sums", "one", "README.md"), "# One\n\n## Why\n\n## Step 1: Make a\n")
	repositorytest.Write(t, l.home.Path("01-sums", "two", "README.md"), "# Two\n\n## Why\n\n## Step 1: Make b\n\n## Step 2: Make c\n\n## Exercises\n\n[Lost](../lesson/exercises/lost/README.md)\n")
	repositorytest.Write(t, l.home.Path("01-sums", "lesson", "checks", "two", "step2.sh"), "[ -e c ] || { echo there is no c; echo yet; exit 1; }\n")
	require.NoError(t, l.home.Commit(t.Context(), "parts"))
	var quiet bytes.Buffer
	require.NoError(t, l.open(&quiet).take("hour"))
	s := l.learn(t.Context())
	s.next("Two: step 2")
	s.press("n")
	s.next("1-lost: Something is lost (level 1, about 5 minutes)\n\n  lesson    01-sums/two/README.md, step 2 of 2: Make c\n")
	s.press("c")
	s.next("01-sums/two/README.md, step 2 of 2: Make c\n  not yet: there is no c\n  yet\n")
	repositorytest.Write(t, l.home.Path("01-sums", "c"), "")
	s.press("c")
	s.next("  done\n")
	s.press("c")
	s.next("no step of this lesson is left to check")
	s.quit()
}
