package curriculum

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// What is between these comments is written here.
const (
	begins = "<!-- tracks: made of tools/workshop/tracks.yaml by make generate -->\n"
	ends   = "<!-- /tracks -->\n"
)

// pages are what is made of the tracks.
func pages(c track.Curriculum, facts track.Facts) []repository.Written {
	var agenda strings.Builder
	for _, t := range c.Offered(facts) {
		if t.Name != track.Deep {
			fmt.Fprintf(&agenda, "\n### %s: `make learn TRACK=%s`\n\n%s", capital(t.Title), t.Name, c.Agenda(t, facts, linkFrom(Agenda)))
		}
	}
	return []repository.Written{
		written(Start, "\n"+c.Table(facts, linkFrom(Start))+"\n"),
		written(Agenda, agenda.String()+"\n"),
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

// written is a file with a part that is made of the tracks, between the comments.
func written(file, text string) repository.Written {
	return repository.Written{File: file, From: track.File, Put: func(have string) (string, error) {
		before, rest, found := strings.Cut(have, begins)
		_, after, ended := strings.Cut(rest, ends)
		if !found || !ended {
			return "", fmt.Errorf("%s has no place for the tracks; it begins with %sand ends with %s", file, begins, ends)
		}
		return before + begins + text + ends + after, nil
	}}
}
