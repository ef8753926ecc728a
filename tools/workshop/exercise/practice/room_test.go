package practice

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/hacking-a-controller/tools/workshop/repository/repositorytest"
)

// reportOf is what bin/workshop report writes.
func reportOf(name, exercises, steps, predictions string) string {
	return "# Workshop report: " + name + "\n\n1 of 2 exercises are solved: about 5 minutes of work.\n\n" +
		"| exercise | level | state | tries | hints | solution seen | started | solved |\n|---|---|---|---|---|---|---|---|\n" + exercises +
		"\n2 of 14 lesson steps are done.\n\n| lesson | steps done |\n|---|---|\n" + steps +
		"\n1 of 2 predictions were right at first.\n\n| lesson | question | first answer | misconception | last answer | asked |\n|---|---|---|---|---|---|\n" + predictions +
		"\nWritten on 2026-05-04; times are UTC.\n"
}

func TestTheReportsOfARoomAreOnePage(t *testing.T) {
	folder := t.TempDir()
	ada, bob, eve := filepath.Join(folder, "ada.md"), filepath.Join(folder, "bob.md"), filepath.Join(folder, "eve.md")
	repositorytest.Write(t, ada, reportOf("Ada",
		"| 1-lost | 1 | solved | 3 | 1 |  | 2026-05-04 09:30 | 2026-05-04 09:50 |\n| 1-silent | 3 | new | 0 | 0 |  |  |  |\n",
		"| 1 | 7 of 7 (2 of them with workshop play) |\n",
		"| 1, step 1 | first | b, wrong | Everything is a folder. | a, right | 2 |\n"))
	repositorytest.Write(t, bob, reportOf("Bob",
		"| 1-lost | 1 | started | 6 | 2 | 2026-05-04 10:30 | 2026-05-04 09:30 |  |\n| 1-silent | 3 | solved | 1 | 0 |  | 2026-05-04 09:30 | 2026-05-04 09:50 |\n",
		"| 1 | 3 of 7 |\n", "| 1, step 1 | first | a, right |  | a, right | 1 |\n"))
	repositorytest.Write(t, eve, reportOf("Eve", "", "", "| 1, step 1 | first | b, wrong | Everything is a folder. | b, wrong | 1 |\n"))

	var out bytes.Buffer
	require.NoError(t, newLearner(t).open(&out).room([]string{ada, bob, eve}))
	assert.Equal(t, `# The room: 3 reports

Ada, Bob, Eve

| exercise | began | solved | tries each | hints each | saw the solution |
|---|---|---|---|---|---|
| 1-lost | 2 | 1 | 4.5 | 1.5 | 1 |
| 1-silent | 1 | 1 | 1.0 | 0.0 | 0 |

| lesson | began | did all steps |
|---|---|---|
| 1 | 2 | 1 |

| question | answered | right at first | what most of the others believed |
|---|---|---|---|
| 1, step 1: first | 3 | 1 | Everything is a folder. |

`, out.String())
}

func TestAPageHasNoTableWithoutRows(t *testing.T) {
	l := newLearner(t)
	for what, tc := range map[string]struct{ report, want string }{
		"somebody has only answered a question": {
			reportOf("Eve", "", "", "| 1, step 1 | first | a, right |  | a, right | 1 |\n"),
			"# The room: 1 report\n\nEve\n\n| question | answered | right at first | what most of the others believed |\n|---|---|---|---|\n| 1, step 1: first | 1 | 1 |  |\n\n",
		},
		"somebody has only looked": {
			reportOf("Eve", "| 1-lost | 1 | new | 0 | 0 |  |  |  |\n", "", ""),
			"# The room: 1 report\n\nEve\n\nNobody has begun an exercise, a lesson or a question yet.\n",
		},
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "eve.md")
			repositorytest.Write(t, file, tc.report)
			var out bytes.Buffer
			require.NoError(t, l.open(&out).room([]string{file}))
			assert.Equal(t, tc.want, out.String())
		})
	}
}

// What report writes, room reads.
func TestALearnersReportIsOneOfTheRoom(t *testing.T) {
	l := newLearner(t)
	addLesson(l)
	var report, page bytes.Buffer
	p := l.open(&report)
	require.NoError(t, p.update(func(progress *Progress) {
		progress.Steps = map[string][]int{"1": {1, 2}}
		*progress.of("1-lost") = Record{Started: now(), Tries: 3, Hints: 1, SolutionSeen: now()}
	}))
	require.NoError(t, p.report(t.Context()))
	file := filepath.Join(t.TempDir(), "report.md")
	repositorytest.Write(t, file, report.String())

	require.NoError(t, l.open(&page).room([]string{file}))
	assert.Contains(t, page.String(), "| 1-lost | 1 | 0 | 3.0 | 1.0 | 1 |\n")
	assert.Contains(t, page.String(), "| 1 | 1 | 1 |\n")
}

func TestWhatIsNoReportIsNamed(t *testing.T) {
	letter := filepath.Join(t.TempDir(), "letter.md")
	repositorytest.Write(t, letter, "Dear teacher,\n")
	p := newLearner(t).open(&bytes.Buffer{})
	require.EqualError(t, p.room([]string{letter}), letter+" is no report: bin/workshop report > report.md writes one")
	require.ErrorContains(t, p.room([]string{letter + ".gone"}), "reading a report: open ")
}
