package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

func TestWrongInputIsOneSentence(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such command":     {[]string{"dance"}, `error: unknown command "dance" for "workshop"`},
		"not in a clone":      {[]string{"lesson", "check"}, "run this in a git clone of the workshop"},
		"branches, not there": {[]string{"branches", "cut"}, "run this in a git clone of the workshop"},
		"exercise, not there": {[]string{"list"}, "run this in a git clone of the workshop"},
		"prove, not there":    {[]string{"prove"}, "run this in a git clone of the workshop"},
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

func TestTheLessonOfTheLastStageIsWalkedFirst(t *testing.T) {
	assert.Equal(t, []string{"6", "5", "1"}, lastFirst([]repository.Stage{{Number: 1}, {Number: 5}, {Number: 6}}))
}

func TestLinesOfTwoAreToldApart(t *testing.T) {
	var out bytes.Buffer
	both := &locked{out: &out}
	one, two := &prefix{out: both, prefix: "one| "}, &prefix{out: both, prefix: "two| "}
	fmt.Fprint(one, "step 1 ... ")
	fmt.Fprint(two, "a\nb")
	fmt.Fprint(one, "done\n\n")
	two.flush()
	one.flush()
	assert.Equal(t, "two| a\none| step 1 ... done\none| \ntwo| b\n", out.String())
}
