package practice

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheReportSaysHowItWentWithEachExercise(t *testing.T) {
	l := newLearner(t)
	l.git(l.home.Root, "config", "user.name", "Ada")
	at := time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	var out bytes.Buffer
	addLesson(l)
	p := l.open(&out)
	require.NoError(t, p.update(func(progress *Progress) {
		progress.Steps = map[string][]int{"1": {2}}
		*progress.of("1-lost") = Record{Started: at, Tries: 3, Hints: 1, Solved: at.Add(20 * time.Minute)}
		*progress.of("1-silent") = Record{Started: at, Tries: 1, SolutionSeen: at.Add(time.Hour)}
		*progress.of("9-gone") = Record{Started: at}
	}))
	before, err := os.ReadFile(l.progressFile())
	require.NoError(t, err)

	require.NoError(t, p.report(t.Context()))
	assert.Contains(t, out.String(), `# Workshop report: Ada

1 of 3 exercises are solved: about 5 minutes of work.

| exercise | level | state | tries | hints | solution seen | started | solved |
|---|---|---|---|---|---|---|---|
| 1-lost | 1 | solved | 3 | 1 |  | 2026-05-04 09:30 | 2026-05-04 09:50 |
| 1-smallest | 2 | new | 0 | 0 |  |  |  |
| 1-silent | 3 | started | 1 | 0 | 2026-05-04 10:30 | 2026-05-04 09:30 |  |
| 9-gone |  | started | 0 | 0 |  | 2026-05-04 09:30 |  |

1 of 2 lesson steps are done.

| lesson | steps done |
|---|---|
| 1 | 1 of 2 |

Written on `)
	assert.Contains(t, out.String(), "Workshop: commit "+l.git(l.home.Root, "rev-parse", "--short", "HEAD")+" of ")

	after, err := os.ReadFile(l.progressFile())
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "a report changes nothing")
}
