// Package core knows what a lesson says of itself in its first lines, and holds core lessons to
// limits:
//
//	# Stage 3: watch
//
//	**Core** · 44 minutes · Afterwards you can name the faults of a naive watch, and fix four.
package core

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"

	"example.com/hacking-a-controller/tools/workshop/glossary"
	"example.com/hacking-a-controller/tools/workshop/lesson"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/track"
)

// The limits of a core lesson.
const (
	mostWords = 2200
	mostSteps = 7
	mostTerms = 8
	minTries  = 3
	maxTries  = 5
	mostBuilt = 8 // tries, of a lesson that begins with a skeleton and builds a program
)

// A Line is what a lesson says of itself.
type Line struct {
	Core       bool
	Minutes    int    // to read it and run its steps
	Afterwards string // what you can do
}

var line = regexp.MustCompile(`^\*\*(Core|Deep dive)\*\* · (\d+) minutes · (Afterwards you can (?:[^\n]|\n[^\n])+\.)(?:\n\n|\n*$)`)

// Read reads the line of a lesson.
func Read(l lesson.Lesson) (Line, error) {
	match := line.FindStringSubmatch(l.Introduction)
	if match == nil {
		return Line{}, fmt.Errorf("%s/README.md doesn't say below its title what it is, such as: **Core** · 44 minutes · Afterwards you can ... (or **Deep dive**)", l.Folder())
	}
	minutes, _ := strconv.Atoi(match[2]) // digits, by the expression
	return Line{match[1] == "Core", minutes, match[3]}, nil
}

// Check says which lessons don't say what they are, and which core lessons are over a limit.
func Check(r repository.Repository) error {
	curriculum, err := track.Load(r)
	if err != nil {
		return err
	}
	terms, err := glossary.Terms(r)
	if err != nil {
		return err
	}
	stages, err := r.Stages()
	if err != nil {
		return err
	}
	var wrong []error
	for _, stage := range stages {
		lessons, err := lesson.Of(r, stage)
		if err != nil {
			return err
		}
		for _, l := range lessons {
			tries, _, err := lesson.Tries(r, l.Ref)
			if err != nil {
				return err
			}
			wrong = append(wrong, check(l, tries.Breaks, curriculum.Minutes[l.Folder()], terms[path.Join(l.Folder(), "README.md")]))
		}
	}
	return errors.Join(wrong...)
}

// check is about one lesson: whether it builds a program from a skeleton, how many minutes its parts
// take, and how many terms it brings.
func check(l lesson.Lesson, builds bool, minutes []int, terms int) error {
	said, err := Read(l)
	if err != nil {
		return err
	}
	sum := 0
	for _, m := range minutes {
		sum += m
	}
	var wrong []error
	if said.Minutes != sum {
		wrong = append(wrong, fmt.Errorf("%s/README.md says that it takes %d minutes, and %s that it's %d", l.Folder(), said.Minutes, track.File, sum))
	}
	if said.Core {
		for _, over := range limits(l, builds, terms) {
			wrong = append(wrong, fmt.Errorf("%s/README.md is core, and %s", l.Folder(), over))
		}
	}
	return errors.Join(wrong...)
}
