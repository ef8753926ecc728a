package proof

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
)

// What go test -json says of one package, in short: "run TestX", "fail TestX", "fail".
// A line with a bar is output.
func report(t *testing.T, lines ...string) *gotest.Report {
	t.Helper()
	var events strings.Builder
	for _, line := range lines {
		if test, output, found := strings.Cut(line, "|"); found {
			events.WriteString(`{"Action":"output","Package":"./p","Test":"` + test + `","Output":"` + output + `\n"}` + "\n")
			continue
		}
		action, test, _ := strings.Cut(line, " ")
		events.WriteString(`{"Action":"` + action + `","Package":"./p","Test":"` + test + `"}` + "\n")
	}
	r, err := gotest.Read(strings.NewReader(events.String()), nil)
	require.NoError(t, err)
	return r
}

func TestTheFailuresAreComparedWithTheNamedTests(t *testing.T) {
	named := []exercise.Test{{Package: "./p", Test: "TestX", Output: "boo"}}
	for name, test := range map[string]struct {
		named []exercise.Test
		lines []string
		want  []string
	}{
		"as stated":                    {named, []string{"run TestX", "TestX|boo", "fail TestX", "fail"}, nil},
		"a test covers its subtests":   {named, []string{"run TestX", "run TestX/a", "TestX/a|boo", "fail TestX/a", "fail TestX", "fail"}, nil},
		"it passes":                    {named, []string{"run TestX", "pass TestX", "pass"}, []string{"TestX of ./p passes, but judge.yaml says that it fails: the patch no longer bites"}},
		"it skips itself":              {named, []string{"run TestX", "skip TestX", "pass"}, []string{"skips itself"}},
		"it is not run":                {named, []string{"pass"}, []string{"TestX of ./p is not run"}},
		"its package is not run":       {[]exercise.Test{{Package: "./q", Test: "TestX"}}, []string{"pass"}, []string{"TestX of ./q is not run"}},
		"for another reason":           {named, []string{"run TestX", "TestX|    x_test.go:1: hiss", "fail TestX", "fail"}, []string{"TestX of ./p fails, but does not print \"boo\", so for another reason than judge.yaml states; its output is:\n    x_test.go:1: hiss"}},
		"another test fails too":       {named, []string{"run TestX", "TestX|boo", "fail TestX", "run TestY", "TestY|hiss", "fail TestY", "fail"}, []string{"TestY of ./p fails too: name it in judge.yaml or make the patch smaller\n    hiss"}},
		"a package at the top":         {[]exercise.Test{{Package: ".", Test: "TestX"}}, []string{"pass"}, []string{"TestX of the top package is not run"}},
		"another name that begins so":  {named, []string{"run TestX", "TestX|boo", "fail TestX", "run TestXY", "fail TestXY", "fail"}, []string{"TestXY of ./p fails too"}},
		"another subtest fails too":    {[]exercise.Test{{Package: "./p", Test: "TestX/a", Output: "boo"}}, []string{"run TestX", "run TestX/a", "TestX/a|boo", "fail TestX/a", "run TestX/b", "fail TestX/b", "fail TestX", "fail"}, []string{"TestX/b of ./p fails too"}},
		"a panic":                      {named, []string{"run TestX", "TestX|panic: nil map", "TestX|", "TestX|goroutine 7 [running]:", "fail TestX", "fail"}, []string{"./p ends in a panic (panic: nil map): in TestX"}},
		"a timeout":                    {named, []string{"run TestX", "TestX|panic: test timed out after 2s", "TestX|", "TestX|goroutine 7 [running]:", "fail"}, []string{"./p hangs (panic: test timed out after 2s): in TestX"}},
		"an exit":                      {named, []string{"run TestX", "fail"}, []string{"TestX of ./p ends its process"}},
		"a goroutine is left":          {named, []string{"run TestX", "pass TestX", "|leak: found a goroutine", "fail"}, []string{"./p fails, though no test of it does:\n    leak: found a goroutine"}},
		"the package did not even end": {named, []string{"run TestX", "pass TestX"}, []string{"./p fails, though no test of it does: (nothing)"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := report(t, test.lines...)
			problems := slices.Concat(compare(test.named, run, "/nowhere"), strays(test.named, run, "/nowhere"))
			require.Len(t, problems, len(test.want), "%q", problems)
			for i, want := range test.want {
				assert.Contains(t, problems[i], want)
				assert.True(t, strings.HasPrefix(problems[i], "with the patch "))
			}
		})
	}
}

func TestWithoutAPatchTheNamedTestsPass(t *testing.T) {
	named := []exercise.Test{{Package: "./p", Test: "TestX/a"}}
	assert.Empty(t, notPassed(named, report(t, "run TestX", "run TestX/a", "pass TestX/a", "pass TestX", "pass")))
	assert.Equal(t, []string{"without any patch TestX/a of ./p skips itself: it judges nothing"}, notPassed(named, report(t, "run TestX/a", "skip TestX/a", "pass")))
	for _, run := range [][]string{{"run TestX", "pass TestX", "pass"}, {}} {
		assert.Equal(t, []string{"without any patch TestX/a of ./p is not run: is that its name, as go test prints it?"}, notPassed(named, report(t, run...)))
	}
}
