package curriculum

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// A page has a part that is written here: what is between these comments.
type page struct {
	file, text string
}

const (
	begins = "<!-- tracks: made of tools/workshop/tracks.yaml by make generate -->\n"
	ends   = "<!-- /tracks -->\n"
)

// pages are what is made of the tracks.
func pages(c track.Curriculum, facts track.Facts) []page {
	var agenda strings.Builder
	for _, t := range c.Tracks {
		if t.Name != track.Deep {
			fmt.Fprintf(&agenda, "\n### %s: `make learn TRACK=%s`\n\n%s", capital(t.Title), t.Name, c.Agenda(t, facts, linkFrom(Agenda)))
		}
	}
	return []page{
		{Start, "\n" + c.Table(facts, linkFrom(Start)) + "\n"},
		{Agenda, agenda.String() + "\n"},
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// linkFrom makes links in a file to other pages.
func linkFrom(file string) func(name, label string) string {
	return func(name, label string) string {
		target, err := filepath.Rel(path.Dir(file), name)
		switch {
		case name == file:
			return "this page"
		case err != nil:
			return label
		case name != Start:
			target += "/"
		}
		return fmt.Sprintf("[%s](%s)", label, filepath.ToSlash(target))
	}
}

// texts returns the file as it is and as it should be.
func (p page) texts(r repository.Repository) (have, want string, err error) {
	content, err := os.ReadFile(r.Path(p.file))
	if err != nil {
		return "", "", err
	}
	have = string(content)
	before, rest, found := strings.Cut(have, begins)
	_, after, ended := strings.Cut(rest, ends)
	if !found || !ended {
		return "", "", fmt.Errorf("%s has no place for the tracks; it begins with %sand ends with %s", p.file, begins, ends)
	}
	return have, before + begins + p.text + ends + after, nil
}
