package exercise

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// mostMinutes is how long a try may take: it stands in the middle of a lesson.
const mostMinutes = 5

// readTries makes of each group a try. Its task is a paragraph of the lesson, and its solution the
// patch with its name.
func (l *loader) readTries() {
	judge := &l.Judge
	l.Title = "The tries of stage " + path.Join(fmt.Sprint(l.Stage.Number), judge.Lesson)
	if judge.Level+judge.Minutes > 0 || len(judge.Wrong) > 0 {
		l.wrong("judge.yaml: tries have no level and nothing under wrong, and each has its own minutes")
	}
	judge.Minutes = 0
	for i := range judge.Groups {
		try := &judge.Groups[i]
		if try.Minutes < 1 || try.Minutes > mostMinutes {
			l.wrong("judge.yaml: %s takes %d minutes; a try takes 1 to %d", try.Name, try.Minutes, mostMinutes)
		}
		if try.Hint = strings.TrimSpace(try.Hint); try.Hint == "" {
			l.wrong("judge.yaml: %s has no hint", try.Name)
		}
		try.Hints = []string{try.Hint}
		judge.Minutes += try.Minutes
	}
}

// FindTry returns the exercise that has a try called name, and the number of the try there, from 1.
// Of several it is the one whose lesson has the folder within, or is in it. Its error names all that there are.
func FindTry(r repository.Repository, name, within string) (Exercise, int, error) {
	exercises, _, err := All(r)
	if err != nil {
		return Exercise{}, 0, err
	}
	var names, lessons []string
	var found Exercise
	number := 0
	for _, e := range exercises {
		if e.Judge.Kind != Try {
			continue
		}
		for _, group := range e.Judge.Groups {
			names = append(names, group.Name)
		}
		i := slices.IndexFunc(e.Judge.Groups, func(g Group) bool { return g.Name == name })
		if i < 0 {
			continue
		}
		folder := path.Join(e.Stage.Folder, e.Judge.Lesson)
		if within == folder || strings.HasPrefix(within, folder+"/") {
			return e, i + 1, nil
		}
		found, number, lessons = e, i+1, append(lessons, folder)
	}
	switch len(lessons) {
	case 1:
		return found, number, nil
	case 0:
		return Exercise{}, 0, fmt.Errorf("there is no try %q; the tries are: %s", name, strings.Join(names, ", "))
	}
	return Exercise{}, 0, fmt.Errorf("%s is a try of %s: say which by doing this in its folder", name, strings.Join(lessons, " and of "))
}
