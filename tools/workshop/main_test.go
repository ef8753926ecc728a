package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/proving"
	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

func TestWrongInputIsOneSentence(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such command":     {[]string{"dance"}, `error: unknown command "dance" for "workshop"`},
		"not in a clone":      {[]string{"lesson", "check"}, "run this in a git clone of the workshop"},
		"no lesson at once":   {[]string{"lesson", "check", "--jobs=0"}, "error: --jobs=0: run one lesson at once at least"},
		"no exercise at once": {[]string{"exercise", "prove", "--jobs=-1"}, "error: --jobs=-1: prove one exercise at once at least"},
		"no save at all":      {[]string{"exercise", "bench", "--runs=0"}, "error: --runs=0: save once at least"},
		"branches, not there": {[]string{"branches", "cut"}, "run this in a git clone of the workshop"},
		"exercise, not there": {[]string{"list"}, "run this in a git clone of the workshop"},
		"prove, not there":    {[]string{"prove"}, "run this in a git clone of the workshop"},
		"nothing to run once": {[]string{"once", "README.md"}, "name the files that a check depends on, and the check: "},
		"a branch too many":   {[]string{"branches", "switch"}, "accepts 1 arg(s), received 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, 1, run(t.Context(), c.args, &stdout, &stderr))
			assert.Contains(t, stderr.String(), c.want)
			assert.Equal(t, 1, bytes.Count(stderr.Bytes(), []byte("\n")), stderr.String())
			assert.Empty(t, stdout.String())
		})
	}
}

func TestTheLastLineOfAProofCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // how long a task takes is printed, too
		one, two := make(chan struct{}), make(chan struct{})
		var out bytes.Buffer
		times := filepath.Join(t.TempDir(), "bin", "prove-times")
		err := proveAll(t.Context(), &out, times, func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
			switch args[0] {
			case "lesson": // which goes on only beside the branches
				close(one)
				<-two
				proving.Record(ctx, proving.Entry{Kind: "lesson", Name: "stage 1", Result: proving.Cached})
				proving.Record(ctx, proving.Entry{Kind: "lesson", Name: "stage 6/tools", Took: 200 * time.Second, Result: proving.Passed})
				fmt.Fprint(stdout, "stage 1\nlessons: 1 passed, 0 failed\n")
			case "branches":
				close(two)
				<-one
				fmt.Fprint(stdout, strings.Repeat("working\n", mostEnding))
				fmt.Fprint(stdout, "branches: 1 passed, 2 failed\n")
				fmt.Fprint(stderr, "error: see above\n")
				return 1
			default:
				<-proving.Alone(ctx) // the lessons end
				proving.Record(ctx, proving.Entry{Kind: "exercise", Name: "1-login", Took: 300 * time.Second, Result: proving.Failed})
				fmt.Fprint(stderr, "error: there is no disk\n")
				return 1
			}
			return 0
		},
			lane{{"lessons", []string{"lesson", "check"}}},
			lane{{"branches", []string{"branches", "prove"}}, {"exercises", []string{"exercise", "prove", "--tested"}}})
		require.ErrorIs(t, err, errNotProved)
		var lesson []string // between its lines there may be others
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "lesson| ") {
				lesson = append(lesson, line)
			}
		}
		assert.Equal(t, []string{
			"lesson| workshop lesson check\n", "lesson| stage 1\n",
			"lesson| lessons: 1 passed, 0 failed\n", "lesson| workshop lesson check passed in 0s\n",
		}, lesson)
		assert.Contains(t, out.String(), "exercise| error: there is no disk\n")
		assert.True(t, strings.HasSuffix(out.String(), `
the slowest:
     5m0s  exercise  1-login  (failed)
    3m20s  lesson    stage 6/tools
from the cache: 1 lessons, 0 exercises
error: workshop branches prove failed; it ended with
`+strings.Repeat("branches| working\n", mostEnding-2)+`branches| branches: 1 passed, 2 failed
branches| error: see above
error: workshop exercise prove failed; it ended with
exercise| workshop exercise prove
exercise| error: there is no disk
lessons: 1 passed, 0 failed; branches: 1 passed, 2 failed; exercises: not counted, see above
`), out.String())
		written, err := os.ReadFile(times)
		require.NoError(t, err)
		assert.Equal(t, "lesson\tstage 1\t0\tcached\nlesson\tstage 6/tools\t200\tpassed\nexercise\t1-login\t300\tfailed\n", string(written))
	})
}

func TestACheckThatHasPassedIsNotRunAgain(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // of the cache on macOS
	t.Setenv("FRESH", "")
	r := repositorytest.New(t, map[string]string{
		"tools/go.mod": "module tools\n", "README.md": "# One\n", "01-list/go.mod": "module list\n", "01-list/main.go": "package main\n",
	})
	t.Chdir(r.Root)
	log := filepath.Join(t.TempDir(), "log")
	once := func(code string) (runs int) {
		t.Helper()
		var out bytes.Buffer
		ended := run(t.Context(), []string{"once", "README.md", "01-list", "--", "sh", "-c", "echo ran >>'" + log + "'; exit " + code}, &out, &out)
		assert.Equal(t, code, strconv.Itoa(ended), &out)
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		return strings.Count(string(text), "ran")
	}
	assert.Equal(t, 1, once("1"))
	assert.Equal(t, 2, once("1"), "it has not passed")
	assert.Equal(t, 3, once("0"))
	assert.Equal(t, 3, once("0"))
	repositorytest.Write(t, r.Path("tools", "other.go"), "package other\n")
	assert.Equal(t, 3, once("0"), "it does not depend on that")
	repositorytest.Write(t, r.Path("01-list", "new.go"), "package main\n")
	assert.Equal(t, 4, once("0"))
	t.Setenv("FRESH", "1")
	assert.Equal(t, 5, once("0"))
}
