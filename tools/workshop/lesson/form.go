package lesson

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// These are the sections of every lesson, in this order. The steps stand after the
// first, as "Step 1: What the reader does" and so on.
const (
	Build  = "What you will build"
	Wrong  = "What can go wrong, and how to see it"
	Train  = "Exercises"
	Beyond = "What comes next"
)

// These comments stand around a passage that is only for the lab.
const (
	LabBegins = "lab"
	LabEnds   = "/lab"
)

var (
	checkName  = regexp.MustCompile(`^step([1-9]\d*)\.sh$`)
	hostedMark = regexp.MustCompile(`\{\{ *(exec|copy)`)
)

// validate says what is not as the form wants it.
func (l Lesson) validate(r repository.Repository, source string) error {
	var wrong []error
	say := func(line int, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%s: %s", l.at(line), fmt.Sprintf(format, args...)))
	}
	if l.Title == "" {
		say(1, "the lesson has no title; begin it with one, such as: # Stage %d: ...", l.Stage.Number)
	}
	l.validateHeadings(say)
	for _, mark := range hostedMark.FindAllStringIndex(source, -1) {
		say(l.Line(mark[0]), "{{exec}} and {{copy}} stand only in generated files; give the fence the info string bash exec instead")
	}
	l.validateBlocks(say)
	l.validatePassages(say)
	l.validateChecks(r, say)
	if err := l.validateQuotes(r, say); err != nil {
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

type sayer func(line int, format string, args ...any)

// validateHeadings walks the headings beside those that there should be.
func (l Lesson) validateHeadings(say sayer) {
	want := []string{Build}
	for i := range max(1, len(l.Steps)) {
		want = append(want, fmt.Sprintf("Step %d: ", i+1))
	}
	want = append(want, Wrong, Train, Beyond)
	last := 1
	for i, heading := range want {
		if i == len(l.Sections) {
			say(last, "the section %q is missing; it comes after this one", "## "+heading)
			return
		}
		section := l.Sections[i]
		last = section.Line
		if section.Heading != heading && (!strings.HasPrefix(heading, "Step ") || !strings.HasPrefix(section.Heading, heading)) {
			say(section.Line, "the heading is %q, and the form wants %q here; every lesson has: %s", "## "+section.Heading, "## "+heading, form)
			return
		}
	}
	if len(l.Sections) > len(want) {
		section := l.Sections[len(want)]
		say(section.Line, "the heading %q is one too many; make it a third-level one, or remove it", "## "+section.Heading)
	}
}

const form = Build + "; Step 1: ... to the last step; " + Wrong + "; " + Train + "; " + Beyond

// validateBlocks looks for blocks that nothing would run, or not as was meant.
func (l Lesson) validateBlocks(say sayer) {
	known := map[int]bool{}
	for _, step := range l.Steps {
		for _, block := range step.Blocks {
			known[block.Line] = true
		}
	}
	for _, fence := range l.Fences {
		switch options, run := toRun(fence); {
		case run && !known[fence.Line]:
			say(fence.Line, "a block to run stands in a step, and not in a list or a quotation; nothing would run this one")
		case run && options != "" && options != "lab":
			say(fence.Line, "the info string is bash exec, or bash exec lab for what only the lab has; not %q", "bash exec "+options)
		}
	}
}

// validatePassages wants passages that are only for the lab to begin and to end.
func (l Lesson) validatePassages(say sayer) {
	open := 0
	for _, comment := range l.Comments {
		if comment.Text != LabBegins && comment.Text != LabEnds {
			continue
		}
		if (comment.Text == LabEnds) != (open != 0) {
			say(comment.Line, "a passage that is only for the lab begins with <!-- lab --> and ends with <!-- /lab -->")
		}
		open = map[string]int{LabBegins: comment.Line}[comment.Text]
	}
	if open != 0 {
		say(open, "<!-- lab --> has no <!-- /lab --> after it")
	}
}

// validateChecks looks for a check of each step, and for a step of each check.
func (l Lesson) validateChecks(r repository.Repository, say sayer) {
	var want []string
	for _, step := range l.Steps {
		want = append(want, filepath.Base(step.Check()))
		if len(step.Blocks) == 0 {
			say(step.Line, "step %d has nothing to run; give it a fenced block with the info string bash exec", step.Number)
		}
		if _, err := os.Stat(r.Path(l.Stage.Folder, step.Check())); err != nil {
			say(step.Line, "step %d has no check; write %s", step.Number, step.Check())
		}
	}
	entries, _ := os.ReadDir(r.Path(l.Stage.Folder, "lesson", "checks")) // without the folder, each check is missing
	for _, entry := range entries {
		switch {
		case !checkName.MatchString(entry.Name()):
			say(1, "lesson/checks/%s is not the check of a step; they are called step1.sh and so on", entry.Name())
		case !slices.Contains(want, entry.Name()):
			say(1, "lesson/checks/%s has no step; remove it, or write the step", entry.Name())
		}
	}
}

// validateQuotes wants each block of Go or YAML to stand word for word in a file of the
// stage, and each output to have been filled in.
func (l Lesson) validateQuotes(r repository.Repository, say sayer) error {
	var code strings.Builder
	err := filepath.WalkDir(r.Path(l.Stage.Folder), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" && filepath.Ext(file) != ".yaml" {
			return err
		}
		content, err := os.ReadFile(file)
		code.Write(content)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the code of stage %d: %w", l.Stage.Number, err)
	}
	for _, fence := range l.Fences {
		switch fence.Info {
		case "go", "yaml":
			if !strings.Contains(code.String(), fence.Code) {
				say(fence.Line, "no file of %s has this block as it is here; quote the code anew", l.Stage.Folder)
			}
		case "text":
			if fence.Code == "" || fence.Code == "OUT\n" {
				say(fence.Line, "the output is still to be filled in; run the step and paste it")
			}
		}
	}
	return nil
}
