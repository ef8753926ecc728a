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
// Of several it is the one whose lesson has the folder within, or is in it; else the one that is current,
// by its ID; else that of the lesson that was read last, by its folder; else the only one of the stage that
// has the folder. Its error names those that may be meant.
func FindTry(r repository.Repository, name, within, current, read string) (Exercise, int, error) {
	exercises, _, err := All(r)
	if err != nil {
		return Exercise{}, 0, err
	}
	var names, near, lessons []string // near are the names of the stage that has the folder
	var found []Exercise
	for _, e := range exercises {
		if e.Judge.Kind != Try {
			continue
		}
		for _, group := range e.Judge.Groups {
			names = append(names, group.Name)
			if isIn(within, e.Stage.Folder) {
				near = append(near, group.Name)
			}
		}
		if e.tryNumber(name) > 0 {
			found, lessons = append(found, e), append(lessons, e.lesson())
		}
	}
	if len(found) == 0 {
		if len(near) > 0 {
			names = near
		}
		return Exercise{}, 0, fmt.Errorf("there is no try %q; %s", name, Suggest(name, "the tries", names))
	}
	var here string // the innermost lesson that has the folder
	for _, lesson := range lessons {
		if isIn(within, lesson) && len(lesson) > len(here) {
			here = lesson
		}
	}
	for _, meant := range []func(Exercise) bool{
		func(e Exercise) bool { return e.lesson() == here },
		func(e Exercise) bool { return e.ID() == current },
		func(e Exercise) bool { return e.lesson() == read },
		func(e Exercise) bool { return isIn(within, e.Stage.Folder) },
		func(Exercise) bool { return true },
	} {
		if few := filter(found, meant); len(few) == 1 {
			return few[0], few[0].tryNumber(name), nil
		}
	}
	return Exercise{}, 0, fmt.Errorf("%s is a try of %s: say which by doing this in its folder", name, strings.Join(lessons, " and of "))
}

// tryNumber is the number of the try called name, from 1, or 0.
func (e Exercise) tryNumber(name string) int {
	return 1 + slices.IndexFunc(e.Judge.Groups, func(g Group) bool { return g.Name == name })
}

// lesson is the folder of the lesson that asks for the tries.
func (e Exercise) lesson() string { return path.Join(e.Stage.Folder, e.Judge.Lesson) }

// isIn says whether a path is that of a folder, or of something in it. Both are clean, with slashes.
func isIn(within, folder string) bool {
	return within == folder || strings.HasPrefix(within, folder+"/")
}

func filter(exercises []Exercise, meant func(Exercise) bool) (few []Exercise) {
	for _, e := range exercises {
		if meant(e) {
			few = append(few, e)
		}
	}
	return few
}
