package practice

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A room is what several reports say together.
type room struct {
	names     []string
	exercises map[string]*tally
	steps     map[string]*tally
	questions map[string]*tally
}

// A tally counts people: those who began something, and those who did it.
type tally struct {
	name         string
	began, did   int
	tries, hints int
	sawSolution  int
	wrong        map[string]int // misconceptions
}

func (t *tally) stuck() int { return t.began - t.did }

// rowsShown is how many rows of a table are on the page: those where most people were stuck.
const rowsShown = 12

// room writes the reports of a room on one page, in Markdown, so that a teacher sees what to talk about.
func (p practice) room(files []string) error {
	p.width = nil // a table's row is one line
	r := room{exercises: map[string]*tally{}, steps: map[string]*tally{}, questions: map[string]*tally{}}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a report: %w", err)
		}
		if !r.add(string(content)) {
			return fmt.Errorf("%s is no report: bin/workshop report > report.md writes one", file)
		}
	}
	noun := "reports"
	if len(r.names) == 1 {
		noun = "report"
	}
	p.printf("# The room: %d %s\n\n%s\n", len(r.names), noun, strings.Join(r.names, ", "))
	if len(r.exercises)+len(r.steps)+len(r.questions) == 0 {
		p.printf("Nobody has begun an exercise, a lesson or a question yet.")
	}
	p.table(r.exercises, "| exercise | began | solved | tries each | hints each | saw the solution |\n|---|---|---|---|---|---|", func(t *tally) string {
		return fmt.Sprintf("%d | %d | %.1f | %.1f | %d", t.began, t.did, each(t.tries, t), each(t.hints, t), t.sawSolution)
	})
	p.table(r.steps, "| lesson | began | did all steps |\n|---|---|---|", func(t *tally) string {
		return fmt.Sprintf("%d | %d", t.began, t.did)
	})
	p.table(r.questions, "| question | answered | right at first | what most of the others believed |\n|---|---|---|---|", func(t *tally) string {
		return fmt.Sprintf("%d | %d | %s", t.began, t.did, t.belief())
	})
	return nil
}

// add counts what a report says. It returns false if the text is no report.
func (r *room) add(report string) bool {
	first, rest, _ := strings.Cut(report, "\n")
	name, ok := strings.CutPrefix(first, "# Workshop report: ")
	r.names = append(r.names, name)
	header := ""
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell) // the first and the last are empty
		}
		switch {
		case len(cells) < 3:
			header = ""
		case header == "":
			header = strings.Join(cells, "|")
		case cells[1] == "---":
		case strings.HasPrefix(header, "|exercise|level|") && len(cells) == 10 && cells[3] != "new":
			of(r.exercises, cells[1]).exercise(cells[3:])
		case strings.HasPrefix(header, "|lesson|steps done|"):
			of(r.steps, cells[1]).step(cells[2])
		case strings.HasPrefix(header, "|lesson|question|") && len(cells) == 8:
			of(r.questions, cells[1]+": "+cells[2]).answer(cells[3], cells[4])
		}
	}
	return ok
}

// of returns the tally of that name.
func of(all map[string]*tally, name string) *tally {
	if all[name] == nil {
		all[name] = &tally{name: name, wrong: map[string]int{}}
	}
	return all[name]
}

// exercise counts solved | 3 | 1 | 2026-05-04 10:30 | 2026-05-04 09:30 | 2026-05-04 09:50.
func (t *tally) exercise(cells []string) {
	t.began++
	if cells[0] == "solved" {
		t.did++
	}
	tries, _ := strconv.Atoi(cells[1]) // our own program wrote them
	hints, _ := strconv.Atoi(cells[2])
	t.tries, t.hints = t.tries+tries, t.hints+hints
	if cells[3] != "" {
		t.sawSolution++
	}
}

// step counts 3 of 7, which may go on: (2 of them with workshop play).
func (t *tally) step(done string) {
	words := strings.Fields(done)
	t.began++
	if len(words) >= 3 && words[0] == words[2] {
		t.did++
	}
}

// answer counts a first answer, such as b, wrong.
func (t *tally) answer(first, misconception string) {
	t.began++
	if strings.HasSuffix(first, ", right") {
		t.did++
	} else {
		t.wrong[misconception]++
	}
}

// belief is the misconception that most had.
func (t *tally) belief() string {
	most := ""
	for belief, n := range t.wrong {
		if n > t.wrong[most] || n == t.wrong[most] && belief < most {
			most = belief
		}
	}
	return most
}

func each(sum int, t *tally) float64 { return float64(sum) / float64(t.began) }

// table prints the rows where most were stuck, and nothing if there are none.
func (p practice) table(all map[string]*tally, head string, row func(*tally) string) {
	if len(all) == 0 {
		return
	}
	sorted := slices.SortedFunc(maps.Values(all), func(a, b *tally) int { return cmp.Or(b.stuck()-a.stuck(), cmp.Compare(a.name, b.name)) })
	var rows strings.Builder
	for _, t := range sorted[:min(rowsShown, len(sorted))] {
		fmt.Fprintf(&rows, "| %s | %s |\n", t.name, row(t))
	}
	p.printf("%s\n%s", head, rows.String())
}
