package lesson

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Try is a paragraph of a step that asks the reader to write a few lines:
//
//	**Now you:** `end-of-watch`. What to write.
//
// An exercise of kind: try has its test and its hint.
type Try struct {
	Name string
	Text string // the paragraph, in Markdown
	Line int
}

var try = regexp.MustCompile("(?m)^\\*\\*Now you:\\*\\* `([a-z0-9-]+)`\\.? *((?:.+\n?)+)")

func (s *Step) readTries(source string) {
	text := source[s.Start:s.End]
	for _, at := range try.FindAllStringSubmatchIndex(text, -1) {
		s.Tries = append(s.Tries, Try{
			Name: text[at[2]:at[3]],
			Text: strings.TrimSpace(text[at[4]:at[5]]),
			Line: s.Line + strings.Count(text[:at[0]], "\n"),
		})
	}
}

// Tries returns the exercise that has the tries of a lesson, if there is one.
func Tries(r repository.Repository, ref Ref) (exercise.Exercise, bool, error) {
	names, err := exercise.Names(r, ref.Stage)
	if err != nil {
		return exercise.Exercise{}, false, err
	}
	for _, name := range names {
		e, _ := exercise.Load(r, ref.Stage, name) // what is wrong with it is for its proof
		if HasTries(e, ref) {
			return e, true, nil
		}
	}
	return exercise.Exercise{}, false, nil
}

// HasTries says whether an exercise has the tries of a lesson.
func HasTries(e exercise.Exercise, ref Ref) bool {
	return e.Judge.Kind == exercise.Try && e.Stage.Number == ref.Stage.Number && e.Judge.Lesson == ref.Part
}

// begin makes the code of a copy that with which the reader begins, if that is a skeleton, which the
// tries of the lesson fill.
func (r *run) begin(ctx context.Context, copied repository.Repository) error {
	e, found, err := Tries(copied, r.lesson.Ref)
	if err != nil || !found || !e.Breaks {
		return err
	}
	for _, step := range r.lesson.Steps {
		r.tries = append(r.tries, step.Tries...)
	}
	r.solve = func(ctx context.Context, try Try) error {
		_, err := copied.Git(ctx, "apply", path.Join(e.Folder(), try.Name+".patch"))
		return err
	}
	_, err = copied.Git(ctx, "apply", e.Patch())
	return err
}

// solveUntil solves the tries above a line, as the reader has when a block there is run.
func (r *run) solveUntil(ctx context.Context, line int) error {
	for ; len(r.tries) > 0 && r.tries[0].Line < line; r.tries = r.tries[1:] {
		if err := r.solve(ctx, r.tries[0]); err != nil {
			return fmt.Errorf("%s: solving %s: %w", r.lesson.at(r.tries[0].Line), r.tries[0].Name, err)
		}
	}
	return nil
}

// validateTries wants the tries that a lesson asks for to be those of its exercise, in their order.
func (l Lesson) validateTries(r repository.Repository, say sayer) {
	e, _, err := Tries(r, l.Ref)
	if err != nil {
		say(1, "%v", err)
		return
	}
	var want []string
	for _, group := range e.Judge.Groups {
		want = append(want, group.Name)
	}
	var asked []string
	for _, step := range l.Steps {
		for _, try := range step.Tries {
			asked = append(asked, try.Name)
			if !slices.Contains(want, try.Name) {
				say(try.Line, "no exercise of kind: try has %s for this lesson", try.Name)
			}
		}
	}
	if missing := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return slices.Contains(asked, name) }); len(missing) > 0 {
		say(1, "the lesson does not ask for %s, which %s has; write: **Now you:** `%s`. ...", strings.Join(missing, ", "), e.Folder(), missing[0])
		return
	}
	if len(asked) == len(want) && !slices.Equal(asked, want) {
		say(1, "the lesson asks for its tries in another order than %s, where one builds on the other: %s", e.Folder(), strings.Join(want, ", "))
	}
}
