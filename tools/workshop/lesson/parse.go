package lesson

import (
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

var (
	stepHeading = regexp.MustCompile(`^Step (\d+): (.+)$`)
	partTarget  = regexp.MustCompile(`^([a-z][a-z0-9-]*(?:/[a-z][a-z0-9-]*)*)/README\.md$`)
)

// Read reads a lesson. Its error has a sentence for each thing that is not as the form
// wants it, with the file and the line.
func Read(ctx context.Context, r repository.Repository, ref Ref) (Lesson, error) {
	l, source, err := parse(r, ref)
	if err != nil {
		return Lesson{}, err
	}
	return l, l.validate(ctx, r, source)
}

// Refs returns the lessons of a stage or of a part of one: the parts of a map, in order, or else
// its README.md. A part may be a map, too. Of maps it wants that they are of the form.
func Refs(ctx context.Context, r repository.Repository, of Ref) ([]Ref, error) {
	l, source, err := parse(r, of)
	if err != nil || !l.isMap() {
		return []Ref{of}, err
	}
	err = l.validate(ctx, r, source)
	var refs []Ref
	for _, part := range l.Parts {
		if err == nil {
			var found []Ref
			found, err = Refs(ctx, r, part)
			refs = append(refs, found...)
		}
	}
	return refs, err
}

// Of returns the lessons of a stage, in order, as they are: a reader may have changed them.
func Of(r repository.Repository, stage repository.Stage) ([]Lesson, error) {
	all, err := Pages(r, Ref{Stage: stage})
	return slices.DeleteFunc(all, Lesson.isMap), err
}

// Pages returns the lessons of a stage or of a part of one, each after the maps that lead to it.
func Pages(r repository.Repository, of Ref) ([]Lesson, error) {
	l, _, err := parse(r, of)
	if err != nil {
		return nil, err
	}
	all := []Lesson{l}
	for _, part := range l.Parts {
		found, err := Pages(r, part)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func parse(r repository.Repository, ref Ref) (Lesson, string, error) {
	source, err := os.ReadFile(r.Path(ref.Folder(), "README.md"))
	if err != nil {
		return Lesson{}, "", fmt.Errorf("reading the lesson of %s: %w", ref, err)
	}
	l := Lesson{Document: markdown.Parse(string(source)), Ref: ref}
	l.readSteps(string(source))
	l.readParts()
	return l, string(source), nil
}

func (l *Lesson) readSteps(source string) {
	for _, section := range l.Sections {
		match := stepHeading.FindStringSubmatch(section.Heading)
		if match == nil {
			continue
		}
		number, _ := strconv.Atoi(match[1]) // too large a number is 0 here, and a gap to validate
		step := Step{Section: section, Number: number, Title: match[2], Check: path.Join(l.checks(), fmt.Sprintf("step%d.sh", number))}
		for _, fence := range l.Fences {
			if options, run := toRun(fence); run && !fence.Inner && section.Contains(fence.Range) {
				step.Blocks = append(step.Blocks, Block{Line: fence.Line, Code: fence.Code, OnlyLab: options == "lab"})
			}
		}
		step.readQuestions(source)
		step.readTries(source)
		l.Steps = append(l.Steps, step)
	}
}

// isMap says whether the README.md has parts instead of steps.
func (l Lesson) isMap() bool {
	_, found := l.Section(Parts)
	return found
}

// readParts finds the parts of a map: what it links to in the section that lists them.
func (l *Lesson) readParts() {
	section, _ := l.Section(Parts)
	for _, link := range l.Links {
		match := partTarget.FindStringSubmatch(link.Target)
		if match == nil || !section.Contains(link.Range) {
			continue
		}
		if part := (Ref{Stage: l.Stage, Part: path.Join(l.Part, match[1])}); !slices.Contains(l.Parts, part) {
			l.Parts = append(l.Parts, part)
		}
	}
}

// toRun says whether the reader runs a block, and what else its info string says.
func toRun(fence markdown.Fence) (options string, run bool) {
	options, run = strings.CutPrefix(fence.Info+" ", "bash exec ")
	return strings.TrimSpace(options), run
}
