package lesson

import (
	"fmt"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/lines"
)

// A failure is what is wrong with a lesson that was run: one sentence that names the
// stage, the step and the line, and notes below it.
type failure struct {
	sentence string
	notes    []note
}

// A note is a text with a title.
type note struct {
	title, text string
}

func (f *failure) Error() string { return f.sentence }

// details is the failure with its notes.
func (f *failure) details() string {
	var text strings.Builder
	fmt.Fprintln(&text, f.sentence)
	for _, note := range f.notes {
		fmt.Fprintf(&text, "%s\n%s\n", note.title, indent(note.text))
	}
	return text.String()
}

func (r *run) failure(step Step, line int, why string, notes []note) error {
	return &failure{
		sentence: fmt.Sprintf("%s: %s, step %d: %s", r.lesson.at(line), r.lesson.Ref, step.Number, why),
		notes:    notes,
	}
}

// notes tells of a block that was run.
func (r *run) notes(block Block, done result) []note {
	ended := fmt.Sprintf("ended with exit code %d", done.code)
	if done.code < 0 {
		ended = "was killed"
	}
	printed := note{"and printed:", lastLines(done.output)}
	if done.output == "" {
		printed = note{"and printed nothing", ""}
	}
	return []note{{fmt.Sprintf("this, in %s, %s", r.lesson.at(block.Line), ended), block.Code}, printed}
}

const mostLines = 100

// lastLines returns a text, or its end if it is long.
func lastLines(text string) string {
	last, before := lines.Last(text, mostLines)
	if before == 0 {
		return last
	}
	return fmt.Sprintf("(%d lines before these)\n%s", before, last)
}

func indent(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}
