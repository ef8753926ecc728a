package lesson

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"example.com/hacking-a-controller/tools/workshop/repository"
)

// mostOfBlock is how many lines a block has at most. A reader has to see what each is for; what
// stages a failure is a command of the lab.
const mostOfBlock = 8

// longBlocks lists lessons with longer blocks that nobody has shortened yet, a line each: the
// folder, and how many there are. The list only shrinks.
const longBlocks = "tools/workshop/lesson/long-blocks.txt"

// validateLengths wants blocks to be short, and waits to have an end.
func (l Lesson) validateLengths(r repository.Repository, say sayer) error {
	allowed, err := allowedLong(r, l.Folder())
	if err != nil {
		return err
	}
	var long []Block
	for _, step := range l.Steps {
		for _, block := range step.Blocks {
			if strings.Count(block.Code, "\n") > mostOfBlock {
				long = append(long, block)
			}
			if loop := endless(block.Code); loop != "" {
				say(block.Line, "the loop %q may never end; wait with: lab await 'COMMAND'", loop)
			}
		}
	}
	switch {
	case len(long) > allowed:
		for _, block := range long {
			say(block.Line, "the block has %d lines, and may have %d; take the choreography out (lab --help), or make two of it", strings.Count(block.Code, "\n"), mostOfBlock)
		}
	case len(long) < allowed:
		say(1, "%d blocks have more than %d lines, and %s says %d; write down the new number", len(long), mostOfBlock, longBlocks, allowed)
	}
	return nil
}

// allowedLong looks a lesson up in the list of those with long blocks.
func allowedLong(r repository.Repository, folder string) (int, error) {
	list, err := os.ReadFile(r.Path(longBlocks))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("reading which lessons have long blocks: %w", err)
	}
	for line := range strings.Lines(string(list)) {
		var name string
		var number int
		if _, err := fmt.Sscan(line, &name, &number); err != nil {
			return 0, fmt.Errorf("reading %s: %q is not a folder and a number", longBlocks, strings.TrimSpace(line))
		}
		if name == folder {
			return number, nil
		}
	}
	return 0, nil
}

// endless returns the first loop of a block that waits for something that may never be so. A loop
// over lines (while read) ends with them.
func endless(code string) (loop string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(code), "")
	if err != nil {
		return "" // the shell says so
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		while, ok := node.(*syntax.WhileClause)
		if !ok || loop != "" {
			return true
		}
		condition := code[while.WhilePos.Offset():while.DoPos.Offset()]
		if while.Until || !strings.Contains(condition, "read ") {
			loop = strings.TrimRight(condition, " \n;")
		}
		return true
	})
	return loop
}
