package lesson

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatReadersMaySeeInProduction(t *testing.T) {
	const head = "| what you see | why | what to do |\n|---|---|---|\n"
	row := func(what, link string) string { return "| " + what + " | because | [this](" + link + ") |\n" }
	const other = "\n| clock | wrong |\n|---|---|\n| a | b |\n"
	for name, c := range map[string]struct{ lesson, page, want string }{
		"a row is on the page":            {head + row("an end", "main.go"), head + row("a start", "x") + row("an end", "../03-watch/main.go"), ""},
		"a table of something else":       {head + row("an end", "main.go") + other, head + row("an end", "main.go"), ""},
		"a row is on the page, elsewhere": {head + row("an end", "main.go"), row("an end", "main.go"), "docs/TROUBLESHOOTING.md lacks this row"},
		"a row has other words":           {head + row("an end", "main.go"), head + row("the end", "main.go"), "docs/TROUBLESHOOTING.md lacks this row, or has other words: | an end | because | [this] |"},
		"a row too many":                  {head + strings.Repeat(row("an end", "main.go"), 6), head + row("an end", "main.go"), `03-watch/README.md:34: "In production" has 6 rows; leave 5, and the others to docs/TROUBLESHOOTING.md`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.files[Troubleshooting] = c.page
			f.readme("Nothing.\n", c.lesson)
			_, err := Read(t.Context(), f.repository(), watch)
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
}
