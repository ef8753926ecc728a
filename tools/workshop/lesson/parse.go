package lesson

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

var stepHeading = regexp.MustCompile(`^Step (\d+): (.+)$`)

// Read reads the lesson of a stage. Its error has a sentence for each thing that is
// not as the form wants it, with the file and the line.
func Read(r repository.Repository, stage repository.Stage) (Lesson, error) {
	source, err := os.ReadFile(r.Path(stage.Folder, "README.md"))
	if err != nil {
		return Lesson{}, fmt.Errorf("reading the lesson of stage %d: %w", stage.Number, err)
	}
	l := Lesson{Document: markdown.Parse(string(source)), Stage: stage}
	l.Steps = stepsOf(l.Document)
	return l, l.validate(r, string(source))
}

func stepsOf(text markdown.Document) []Step {
	var steps []Step
	for _, section := range text.Sections {
		match := stepHeading.FindStringSubmatch(section.Heading)
		if match == nil {
			continue
		}
		number, _ := strconv.Atoi(match[1]) // too large a number is 0 here, and a gap to validate
		step := Step{Section: section, Number: number, Title: match[2]}
		for _, fence := range text.Fences {
			if options, run := toRun(fence); run && !fence.Inner && section.Contains(fence.Range) {
				step.Blocks = append(step.Blocks, Block{Line: fence.Line, Code: fence.Code, OnlyLab: options == "lab"})
			}
		}
		steps = append(steps, step)
	}
	return steps
}

// toRun says whether the reader runs a block, and what else its info string says.
func toRun(fence markdown.Fence) (options string, run bool) {
	options, run = strings.CutPrefix(fence.Info+" ", "bash exec ")
	return strings.TrimSpace(options), run
}
