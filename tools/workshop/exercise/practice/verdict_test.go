package practice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
)

func TestWhyAPartOfATestWasNotRun(t *testing.T) {
	events := `{"Action":"output","Package":"./p","Test":"TestX","Output":"    x_test.go:7: the CRD was refused\n"}
{"Action":"fail","Package":"./p","Test":"TestX"}
{"Action":"fail","Package":"./p"}`
	report, err := gotest.Read(strings.NewReader(events), nil)
	require.NoError(t, err)
	findings := judge([]exercise.Test{{Package: "./p", Test: "TestX/a part"}}, report, "/m")
	require.Len(t, findings, 1)
	assert.Equal(t, "was not run", findings[0].verdict)
	assert.Equal(t, "x_test.go:7: the CRD was refused", strings.TrimSpace(findings[0].lines[1]))
}

func TestEachTestIsJudged(t *testing.T) {
	const failed = `{"Action":"fail","Package":"./p"}`
	for name, test := range map[string]struct {
		events   []string
		verdicts []string
		because  string // of the last
	}{
		"passes":      {[]string{`{"Action":"pass","Package":"./p","Test":"TestX"}`, `{"Action":"pass","Package":"./p"}`}, []string{"passes: TestX (./p)"}, ""},
		"fails":       {[]string{`{"Action":"fail","Package":"./p","Test":"TestX"}`, failed}, []string{"fails: TestX (./p)"}, "so that"},
		"was skipped": {[]string{`{"Action":"skip","Package":"./p","Test":"TestX"}`, `{"Action":"pass","Package":"./p"}`}, []string{"was skipped: TestX (./p)"}, "so that"},
		"did not end": {[]string{`{"Action":"run","Package":"./p","Test":"TestX"}`, failed}, []string{"did not end: TestX (./p)"}, "so that"},
		"panics":      {[]string{`{"Action":"output","Package":"./p","Test":"TestX","Output":"panic: boo\n\ngoroutine 7 [running]:\n"}`, `{"Action":"fail","Package":"./p","Test":"TestX"}`, failed}, []string{"panics: TestX (./p)"}, "so that"},
		"was not run": {[]string{`{"Action":"pass","Package":"./p"}`}, []string{"was not run: TestX (./p)"}, ""},
		"no package":  {nil, []string{"was not run: TestX (./p)"}, ""},
		"its package fails by itself": {
			[]string{`{"Action":"pass","Package":"./p","Test":"TestX"}`, `{"Action":"output","Package":"./p","Output":"a goroutine is left"}`, failed},
			[]string{"passes: TestX (./p)", "fails: ./p"}, "The tests of the exercise pass, but the package fails.",
		},
		"another fails": {
			[]string{`{"Action":"pass","Package":"./p","Test":"TestX"}`, `{"Action":"fail","Package":"./p","Test":"TestY"}`, failed},
			[]string{"passes: TestX (./p)", "fails: ./p"}, "The tests of the exercise pass, but the package fails: TestY.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := gotest.Read(strings.NewReader(strings.Join(test.events, "\n")), nil)
			require.NoError(t, err)
			findings := judge([]exercise.Test{{Package: "./p", Test: "TestX", Because: "so that"}}, report, "/m")
			var verdicts []string
			for _, f := range findings {
				verdicts = append(verdicts, f.verdict+": "+f.what)
			}
			assert.Equal(t, test.verdicts, verdicts)
			last := findings[len(findings)-1]
			if !last.passed {
				assert.Equal(t, test.because, last.because)
			}
			assert.Equal(t, name == "passes", outcome{findings: findings}.solved())
		})
	}
	assert.False(t, outcome{}.solved(), "nothing was judged")
	assert.False(t, outcome{findings: []finding{{passed: true}}, tooLong: true}.solved())
	assert.False(t, outcome{findings: []finding{{passed: true}}, compiler: "no"}.solved())
}
