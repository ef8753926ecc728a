package lesson

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// These are the sections of every lesson, in this order. The steps stand after the
// first, as "Step 1: What the reader does" and so on.
const (
	Why        = "Why"
	Train      = "Exercises"
	Production = "In production"
	Beyond     = "What comes next"
)

// Parts is the section of a map that lists the parts. It stands between Why and Beyond,
// and there is no other.
const Parts = "The parts"

// These comments stand around a passage that is only for the lab.
const (
	LabBegins = "lab"
	LabEnds   = "/lab"
)

var (
	checkName  = regexp.MustCompile(`^step([1-9]\d*)\.sh$`)
	partTitle  = regexp.MustCompile(`^Stage \d+, part \d+`)
	hostedMark = regexp.MustCompile(`\{\{ *(exec|copy)`)
)

// validate says what is not as the form wants it.
func (l Lesson) validate(ctx context.Context, r repository.Repository, source string) error {
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
	if l.isMap() {
		l.validateParts(r, say)
	} else {
		l.validateSteps(r, say)
		l.validateQuestions(say)
		l.validateTries(r, say)
	}
	l.validateChecks(r, say)
	l.validateImages(say)
	l.validateOutputs(say)
	l.validateQuotes(r, say)
	if err := l.validateLengths(r, say); err != nil {
		wrong = append(wrong, err)
	}
	l.validateProduction(r, say)
	if err := l.validateDiffs(ctx, r, say); err != nil {
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

type sayer func(line int, format string, args ...any)

// validateHeadings walks the headings beside those that there should be.
func (l Lesson) validateHeadings(say sayer) {
	want, form := []string{Why, Parts, Beyond}, mapForm
	if !l.isMap() {
		want, form = []string{Why}, lessonForm
		for i := range max(1, len(l.Steps)) {
			want = append(want, fmt.Sprintf("Step %d: ", i+1))
		}
		want = append(want, Train, Production, Beyond)
	}
	last := 1
	for i, heading := range want {
		if i == len(l.Sections) {
			say(last, "the section %q is missing; it comes after this one", "## "+heading)
			return
		}
		section := l.Sections[i]
		last = section.Line
		if section.Heading != heading && (!strings.HasPrefix(heading, "Step ") || !strings.HasPrefix(section.Heading, heading)) {
			say(section.Line, "the heading is %q, and the form wants %q here; %s", "## "+section.Heading, "## "+heading, form)
			return
		}
	}
	if len(l.Sections) > len(want) {
		section := l.Sections[len(want)]
		say(section.Line, "the heading %q is one too many; make it a third-level one, or remove it", "## "+section.Heading)
	}
}

const (
	lessonForm = "every lesson has: " + Why + "; Step 1: ... to the last step; " + Train + "; " + Production + "; " + Beyond
	mapForm    = "every map of parts has: " + Why + "; " + Parts + "; " + Beyond
)

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

// validateSteps wants each step to have something to run, and a check that a reader can run.
func (l Lesson) validateSteps(r repository.Repository, say sayer) {
	for _, step := range l.Steps {
		if len(step.Blocks) == 0 {
			say(step.Line, "step %d has nothing to run; give it a fenced block with the info string bash exec", step.Number)
		}
		switch info, err := os.Stat(r.Path(l.Stage.Folder, step.Check)); {
		case err != nil:
			say(step.Line, "step %d has no check; write %s", step.Number, step.Check)
		case info.Mode()&0o111 == 0:
			say(step.Line, "the reader cannot run the check of step %d; run: chmod +x %s", step.Number, step.Check)
		}
	}
}

// validateParts wants each part of a map to be there, and to have its number in its title: the
// first part of part 8 is part 8.1.
func (l Lesson) validateParts(r repository.Repository, say sayer) {
	section, _ := l.Section(Parts)
	before := fmt.Sprintf("Stage %d, part ", l.Stage.Number)
	if match := partTitle.FindString(l.Title); l.Part != "" && match != "" {
		before = match + "."
	}
	if len(l.Parts) == 0 {
		say(section.Line, "the map has no part; link to the README.md of each, such as first/README.md")
	}
	for i, ref := range l.Parts {
		part, _, err := parse(r, ref)
		if want := fmt.Sprintf("%s%d: ", before, i+1); err != nil {
			say(section.Line, "there is no lesson %s/README.md; write it, or remove the link", ref.Folder())
		} else if !strings.HasPrefix(part.Title, want) {
			say(section.Line, "the title of %s is %q; as the map has it, it begins with: # %s", ref.at(1), "# "+part.Title, want)
		}
	}
}

// validateChecks wants each check to have a step, and each folder of checks to have a part.
func (l Lesson) validateChecks(r repository.Repository, say sayer) {
	var want []string
	for _, step := range l.Steps {
		want = append(want, path.Base(step.Check))
	}
	for _, part := range l.Parts { // its checks, or the folder that they are in
		folder, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(part.Part, l.Part), "/"), "/")
		want = append(want, folder)
	}
	entries, _ := os.ReadDir(r.Path(l.Stage.Folder, l.checks())) // without the folder, each check is missing
	for _, entry := range entries {
		name := path.Join(l.checks(), entry.Name())
		_, noLesson := os.Stat(r.Path(l.Folder(), entry.Name(), "README.md"))
		switch {
		case slices.Contains(want, entry.Name()):
		case !l.isMap() && entry.IsDir() && noLesson == nil: // the map has a part in a folder of this one
		case l.isMap():
			say(1, "%s belongs to no part; the map lists the parts, and each has a folder of checks", name)
		case checkName.MatchString(entry.Name()):
			say(1, "%s has no step; remove it, or write the step", name)
		default:
			say(1, "%s is not the check of a step; they are called step1.sh and so on", name)
		}
	}
}

// validateImages wants each image to say in words what it shows.
func (l Lesson) validateImages(say sayer) {
	for _, image := range l.Images {
		if strings.TrimSpace(image.Words) == "" {
			say(l.Line(image.Start), "the image %s has no text alternative; write between ![ and ] what it shows", image.Target)
		}
	}
}

// validateOutputs wants each output to have been filled in.
func (l Lesson) validateOutputs(say sayer) {
	for _, fence := range l.Fences {
		if fence.Info == "text" && (fence.Code == "" || fence.Code == "OUT\n") {
			say(fence.Line, "the output is still to be filled in; run the step and paste it")
		}
	}
}
