package lesson

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// Troubleshooting is the page that has what readers of all lessons may see in production.
const Troubleshooting = "docs/TROUBLESHOOTING.md"

// mostRows is how many rows a lesson shows of that page.
const mostRows = 5

// validateProduction wants a lesson to show few rows of what a reader may see, and the page
// to have each of them.
func (l Lesson) validateProduction(r repository.Repository, say sayer) {
	section, _ := l.Section(Production)
	shown := troubles(section.Text)
	if len(shown) > mostRows {
		say(section.Line, "%q has %d rows; leave %d, and the others to %s", Production, len(shown), mostRows, Troubleshooting)
	}
	page, _ := os.ReadFile(r.Path(Troubleshooting)) // without it, each row is missing
	all := troubles(string(page))
	for _, row := range shown {
		if !slices.Contains(all, row) {
			say(section.Line, "%s lacks this row, or has other words: %s", Troubleshooting, row)
		}
	}
}

var linkTarget = regexp.MustCompile(`\]\([^)]*\)`)

// troubles returns the rows of all tables of what a reader may see, without where their links
// lead: that depends on the folder of the text.
func troubles(text string) []string {
	var rows []string
	inTable := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "| what you see |"):
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable && !strings.HasPrefix(line, "|---"):
			rows = append(rows, linkTarget.ReplaceAllString(line, "]"))
		}
	}
	return rows
}
