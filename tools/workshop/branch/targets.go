package branch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// targetsOf returns the targets that stages add to the Makefile, and the number of the stage
// of each. Those that have the number in their name are not among them.
func targetsOf(r repository.Repository, stages []repository.Stage) (map[string]int, error) {
	numbers := map[string]int{}
	for _, stage := range stages {
		content, err := os.ReadFile(r.Path(stage.Folder, "lesson", "stage.mk"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, match := range targetLine.FindAllStringSubmatch(string(content), -1) {
			numbers[match[1]] = stage.Number
		}
	}
	return numbers, nil
}

var (
	targetLine = regexp.MustCompile(`(?m)^([a-z][\w-]*):(?:[^=]|$)`)
	numbered   = regexp.MustCompile(`^(?:stage|test|bench|diff)-(\d+)(?:-[\w-]+)?$`)
	inWords    = regexp.MustCompile("`make ([\\w-]+)[^`]*`")
	inALine    = regexp.MustCompile(`(?m)^    make ([\w-]+).*\n`)
)

// withoutTargets says of each target that a text names, and that is not here, on which branch
// it is. A line of a list of commands goes.
func withoutTargets(text string, of map[string]int, gone []repository.Stage) string {
	stageOf := func(target string) (int, bool) {
		number := of[target]
		if match := numbered.FindStringSubmatch(target); match != nil {
			number, _ = strconv.Atoi(match[1])
		}
		return number, slices.ContainsFunc(gone, func(stage repository.Stage) bool { return stage.Number == number })
	}
	text = inALine.ReplaceAllStringFunc(text, func(line string) string {
		if _, isGone := stageOf(inALine.FindStringSubmatch(line)[1]); isGone {
			return ""
		}
		return line
	})
	return inWords.ReplaceAllStringFunc(text, func(call string) string {
		if number, isGone := stageOf(inWords.FindStringSubmatch(call)[1]); isGone {
			return fmt.Sprintf("%s (branch `stage-%d`)", call, number)
		}
		return call
	})
}
