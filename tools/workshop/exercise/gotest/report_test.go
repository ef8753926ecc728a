package gotest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read makes a report of events. An event is written as "action test: output", all
// of package example.com/m/p.
func read(t *testing.T, events ...Event) *Report {
	t.Helper()
	var stream strings.Builder
	for _, event := range events {
		if event.ImportPath == "" && event.Package == "" {
			event.Package = "p"
		}
		line, err := json.Marshal(event)
		require.NoError(t, err)
		stream.Write(append(line, '\n'))
	}
	report, err := Read(strings.NewReader(stream.String()), nil)
	require.NoError(t, err)
	return report
}

func began(test string) Event            { return Event{Action: "run", Test: test} }
func said(test, output string) Event     { return Event{Action: "output", Test: test, Output: output} }
func ended(test string, v Verdict) Event { return Event{Action: string(v), Test: test} }
func finished(v Verdict) Event           { return Event{Action: string(v)} }
func names(tests []*Test) (names []string) {
	for _, test := range tests {
		names = append(names, test.Name)
	}
	return names
}

func TestAFailingTestIsTheLeaf(t *testing.T) {
	p := read(t,
		began("TestTable"), began("TestTable/a"), ended("TestTable/a", Failed), began("TestTable/b"), ended("TestTable/b", Passed),
		ended("TestTable", Failed),
		began("TestTableTwo"), ended("TestTableTwo", Failed),
		began("TestOther"), ended("TestOther", Passed),
		began("TestSkipped"), ended("TestSkipped", Skipped),
		finished(Failed),
	).Package("p")
	assert.Equal(t, []string{"TestTable/a", "TestTableTwo"}, names(p.Failures()))
	assert.Equal(t, Failed, p.Verdict)
	assert.Equal(t, Skipped, p.Test("TestSkipped").Verdict)
	assert.Nil(t, p.Test("TestNone"))
	assert.Empty(t, p.Panic())
}

func TestATestWhoseProcessEndedIsUnfinished(t *testing.T) {
	p := read(t, began("TestTable"), began("TestTable/exits"), finished(Failed)).Package("p")
	assert.Equal(t, []string{"TestTable/exits"}, names(p.Failures()))
	assert.Equal(t, Unfinished, p.Test("TestTable/exits").Verdict)
}

func TestTheOutputOfATestHoldsThatOfItsSubtests(t *testing.T) {
	p := read(t,
		said("TestTable", "one\n"), said("TestTable/a", "two\n"), said("TestTableTwo", "other\n"),
		said("", "before\n"), said("", "PASS\n"), said("", "goleak: found a goroutine\n"), said("", "FAIL\tp\t0.1s\n"), said("", "FAILED to stop\n"),
	).Package("p")
	assert.Equal(t, "one\ntwo\n", p.Output("TestTable"))
	assert.Equal(t, "two\n", p.Output("TestTable/a"))
	assert.Equal(t, "before\ngoleak: found a goroutine\nFAILED to stop", p.Outside())
}

func TestWhatTheCompilerSaysBelongsToThePackagesThatNeedIt(t *testing.T) {
	report := read(t,
		Event{Action: "build-output", ImportPath: "q", Output: "# q\n"},
		Event{Action: "build-output", ImportPath: "q", Output: "q/q.go:2:1: undefined: x\n"},
		Event{Action: "build-fail", ImportPath: "q"},
		Event{Action: "fail", Package: "p", FailedBuild: "q"},
		Event{Action: "fail", Package: "r", FailedBuild: "unknown"},
		Event{Action: "pass", Package: "s"},
	)
	assert.Equal(t, "# q\nq/q.go:2:1: undefined: x", report.Package("p").Build)
	assert.NotEmpty(t, report.Package("r").Build)
	assert.Empty(t, report.Package("s").Build)
	assert.Nil(t, report.Package("q"), "a package that is only compiled has no tests")
}

func TestAPanicIsOneThatEndedTheProcess(t *testing.T) {
	stack := "\ngoroutine 7 [running]:\nmain.f()\n"
	for name, test := range map[string]struct {
		output  string
		verdict Verdict
		want    string
	}{
		"in a test":          {"panic: boo [recovered, repanicked]\n" + stack, Failed, "panic: boo"},
		"a timeout":          {"panic: test timed out after 2s\n\trunning tests:\n\t\tTestX (2s)\n" + stack, Failed, "panic: test timed out after 2s"},
		"of the runtime":     {"fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 gp=0xc0 m=0 mp=0x1 [chan receive]:\n", Failed, "fatal error: all goroutines are asleep - deadlock!"},
		"one that is logged": {"    x_test.go:1: panic: boo\n" + stack, Failed, ""},
		"without a stack":    {"panic: says the program\n", Failed, ""},
		"one that passed":    {"panic: boo\n" + stack, Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, read(t, said("TestX", test.output), finished(test.verdict)).Package("p").Panic())
			assert.Equal(t, test.want, read(t, said("", test.output), finished(test.verdict)).Package("p").Panic())
		})
	}
}

func TestLinesThatAreNoEventsAreIgnored(t *testing.T) {
	var seen []string
	report, err := Read(strings.NewReader("go: downloading\n{}\n{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"TestX\"}\n{\"Action\":\"pass\""), func(e Event) {
		seen = append(seen, e.Action)
	})
	require.NoError(t, err)
	require.Len(t, report.Packages, 1)
	assert.Equal(t, []string{"", "run"}, seen)
	assert.Equal(t, Unfinished, report.Packages[0].Verdict)
}
