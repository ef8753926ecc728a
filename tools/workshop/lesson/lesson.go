// Package lesson reads the lessons, and runs them as a reader would.
//
// A lesson is the README.md of a stage: plain CommonMark, with the same second-level
// headings in every stage (see form.go). What a reader is to run are fenced blocks with
// the info string "bash exec". After each step, lesson/checks/stepK.sh says whether it is done.
// The README.md of a large stage is a map, and each of its parts is a lesson, or again a map.
package lesson

import (
	"fmt"
	"path"
	"strconv"

	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Ref names a lesson.
type Ref struct {
	Stage repository.Stage
	Part  string // the folder of a part in that of the stage, such as queue or postgres/api; or nothing
}

// String is how a message names the lesson: "stage 4/queue", or "stage 3".
func (r Ref) String() string { return "stage " + path.Join(strconv.Itoa(r.Stage.Number), r.Part) }

// Folder is where the README.md of the lesson is.
func (r Ref) Folder() string { return path.Join(r.Stage.Folder, r.Part) }

// checks is where its checks are, in the folder of the stage.
func (r Ref) checks() string { return path.Join("lesson/checks", r.Part) }

// at is how a message names a line of the lesson.
func (r Ref) at(line int) string { return fmt.Sprintf("%s/README.md:%d", r.Folder(), line) }

// A Lesson is the README.md of a stage, or of a part of one.
type Lesson struct {
	markdown.Document
	Ref
	Steps []Step // those of the sections that the reader does
	Parts []Ref  // of a README.md that is a map; it has no steps
}

// A Step is a section that the reader does.
type Step struct {
	markdown.Section
	Number int
	Title  string
	Blocks []Block
	Check  string // its script, as a path in the stage's folder

	Questions []Question
	Tries     []Try
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
