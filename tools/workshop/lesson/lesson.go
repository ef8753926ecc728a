// Package lesson reads the lessons, and runs them as a reader would.
//
// A lesson is the README.md of a stage: plain CommonMark, with the same second-level
// headings in every stage (see form.go). What a reader is to run are fenced blocks with
// the info string "bash exec". After each step, lesson/checks/stepK.sh says whether it is done.
package lesson

import (
	"fmt"
	"path"

	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Lesson is the README.md of a stage.
type Lesson struct {
	markdown.Document
	Stage repository.Stage
	Steps []Step // those of the sections that the reader does
}

// A Step is a section that the reader does.
type Step struct {
	markdown.Section
	Number int
	Title  string
	Blocks []Block
}

// A Block is what the reader runs in one go.
type Block struct {
	Line int // of the fence, so that the first command is on the next
	Code string
	// OnlyLab says that it means something only in the lab, so that a scenario shows
	// it as reading. Its info string is "bash exec lab".
	OnlyLab bool
}

// Section returns the section with that heading.
func (l Lesson) Section(heading string) (markdown.Section, bool) {
	for _, section := range l.Sections {
		if section.Heading == heading {
			return section, true
		}
	}
	return markdown.Section{}, false
}

// at is how a message names a line of the lesson.
func (l Lesson) at(line int) string {
	return fmt.Sprintf("%s:%d", path.Join(l.Stage.Folder, "README.md"), line)
}

// Check is the step's check script, as a path in the stage's folder.
func (s Step) Check() string {
	return fmt.Sprintf("lesson/checks/step%d.sh", s.Number)
}
