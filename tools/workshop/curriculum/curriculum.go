// Package curriculum holds the tracks against what the repository has, and writes what is made of
// them: the table in START.md, and the agenda for the instructor.
package curriculum

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// Start is the page that everybody reads first, and Agenda the one of the instructor.
const (
	Start  = "START.md"
	Agenda = "docs/INSTRUCTORS.md"
)

// Check says what is wrong with the tracks, and which page isn't what they make of it.
func Check(r repository.Repository) error {
	c, facts, err := read(r)
	if err != nil || len(c.Tracks) == 0 {
		return err
	}
	return errors.Join(c.Check(facts), r.CheckWritten(pages(c, facts)))
}

// Write writes the pages again.
func Write(r repository.Repository) error {
	c, facts, err := read(r)
	if err != nil || len(c.Tracks) == 0 {
		return err
	}
	return r.Rewrite(pages(c, facts))
}

func read(r repository.Repository) (track.Curriculum, track.Facts, error) {
	c, err := track.Load(r)
	if err != nil || len(c.Tracks) == 0 {
		return c, track.Facts{}, err
	}
	facts, err := Facts(r, c)
	return c, facts, err
}

// Facts are what the repository has of what the tracks name.
func Facts(r repository.Repository, c track.Curriculum) (track.Facts, error) {
	f := track.Facts{Pages: map[string]track.Page{}, Exercises: map[string]track.Work{}, Tries: map[string]track.Work{}}
	if _, err := os.Stat(r.Path(Start)); err == nil {
		f.Pages[Start] = track.Page{Label: Start}
	}
	stages, err := r.Stages()
	if err != nil {
		return f, err
	}
	exercises, _, err := exercise.All(r)
	if err != nil {
		return f, err
	}
	named := map[string][]mention{}
	for _, stage := range stages {
		f.Stages = append(f.Stages, stage.Folder)
		pages, err := lesson.Pages(r, lesson.Ref{Stage: stage})
		if errors.Is(err, fs.ErrNotExist) {
			continue // a stage that is being written
		}
		if err != nil {
			return f, err
		}
		for _, page := range pages {
			f.Pages[page.Folder()] = track.Page{Label: strings.TrimPrefix(page.Title, "Stage "), Steps: len(page.Steps)}
			mentions(page, named)
			tries(page, exercises, f.Tries)
		}
	}
	order := c.Order(track.Read)
	for _, e := range exercises {
		if e.Judge.Kind == exercise.Try {
			continue
		}
		work := track.Work{Minutes: e.Judge.Minutes}
		by := named[e.Key()]
		slices.SortStableFunc(by, func(a, b mention) int { return cmp.Compare(order(a.page), order(b.page)) })
		for _, m := range by {
			work.Pages = append(work.Pages, m.page)
			work.Step = cmp.Or(work.Step, m.step)
		}
		f.Exercises[e.Key()] = work
	}
	return f, nil
}

// tries adds what a lesson asks for on its way, such as 03-watch/end-of-watch.
func tries(l lesson.Lesson, exercises []exercise.Exercise, all map[string]track.Work) {
	i := slices.IndexFunc(exercises, func(e exercise.Exercise) bool { return lesson.HasTries(e, l.Ref) })
	if i < 0 {
		return
	}
	for _, step := range l.Steps {
		for _, try := range step.Tries {
			for _, group := range exercises[i].Judge.Groups {
				if group.Name == try.Name {
					all[path.Join(l.Stage.Folder, try.Name)] = track.Work{Minutes: group.Minutes, Pages: []string{l.Folder()}, Step: step.Number}
				}
			}
		}
	}
}

// A mention is a link from a lesson to an exercise.
type mention struct {
	page string
	step int
}

var exerciseFolder = regexp.MustCompile(`^([^/]+)/lesson/exercises/([^/]+)(/|$)`)

// mentions collects the exercises that a lesson links to, each once.
func mentions(l lesson.Lesson, named map[string][]mention) {
	if len(l.Steps) == 0 {
		return
	}
	for _, link := range l.Links {
		file, within := links.Path(link)
		match := exerciseFolder.FindStringSubmatch(path.Join(l.Folder(), filepath.ToSlash(file)))
		if !within || match == nil {
			continue
		}
		m := mention{page: l.Folder()}
		for _, step := range l.Steps {
			if step.Contains(link.Range) {
				m.step = step.Number
			}
		}
		key := path.Join(match[1], match[2])
		if !slices.ContainsFunc(named[key], func(other mention) bool { return other.page == m.page }) {
			named[key] = append(named[key], m)
		}
	}
}
