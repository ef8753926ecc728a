package exercise

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise/exercisetest"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestTriesAreAnExercise(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.AddTries(t, r)
	e, n, err := FindTry(r, "twice", ".", "", "")
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, "1-tries", e.ID())
	assert.Equal(t, "The tries of stage 1", e.Title)
	assert.Equal(t, 3, e.Judge.Minutes)
	assert.Equal(t, []string{"Add each twice."}, e.Judge.Groups[1].Hints)
	assert.Equal(t, "01-sums/lesson/exercises/tries/twice.patch", e.Step(2))
	_, _, err = FindTry(r, "thrice", ".", "", "")
	require.EqualError(t, err, `there is no try "thrice"; did you mean twice?`)

	judge := r.Path("01-sums", "lesson", "exercises", "tries", "judge.yaml")
	before := repositorytest.Read(t, judge)
	for name, test := range map[string]struct{ old, replacement, want string }{
		"too long":    {"minutes: 2", "minutes: 6", "none takes 6 minutes; a try takes 1 to 5"},
		"no hint":     {"hint: Add each twice.", "", "twice has no hint"},
		"a level":     {"kind: try", "kind: try\nlevel: 1", "tries have no level"},
		"no solution": {"name: twice", "name: thrice", `thrice.patch has nothing in it: it is what writes the code of "thrice"`},
		"no test":     {"test: TestTryNone", "test: TestNone", `there is no test "TestNone" in ./sum`},
	} {
		t.Run(name, func(t *testing.T) {
			exercisetest.Edit(t, judge, test.old, test.replacement)
			defer repositorytest.Write(t, judge, before)
			_, err := Load(r, stage, "tries")
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestATryWithTheNameOfAnotherIsThatOfTheFolderOrOfTheCopyInUse(t *testing.T) {
	r := exercisetest.New(t)
	exercisetest.AddTries(t, r)
	folder := r.Path("01-sums", "lesson", "exercises")
	require.NoError(t, os.CopyFS(filepath.Join(folder, "others"), os.DirFS(filepath.Join(folder, "tries"))))
	exercisetest.Edit(t, filepath.Join(folder, "others", "judge.yaml"), "kind: try", "kind: try\nlesson: two")
	for name, test := range map[string]struct{ within, current, read, want string }{
		"in the lesson":                           {"01-sums/two", "", "", "1-others"},
		"deeper in the lesson":                    {"01-sums/two/deeper", "1-tries", "01-sums", "1-others"},
		"at the root, after a try of one":         {".", "1-tries", "01-sums/two", "1-tries"},
		"at the root, after a try of the other":   {".", "1-others", "", "1-others"},
		"in another stage, after a try of one":    {"02-products", "1-others", "", "1-others"},
		"at the root, after a step of the other":  {".", "", "01-sums/two", "1-others"},
		"after another exercise, and then a step": {".", "1-lost", "01-sums/two", "1-others"},
	} {
		e, n, err := FindTry(r, "twice", test.within, test.current, test.read)
		require.NoError(t, err, name)
		assert.Equal(t, test.want, e.ID(), name)
		assert.Equal(t, 2, n, name)
	}
	_, _, err := FindTry(r, "twice", ".", "", "")
	require.EqualError(t, err, "twice is a try of 01-sums/two and of 01-sums: say which by doing this in its folder")
}
