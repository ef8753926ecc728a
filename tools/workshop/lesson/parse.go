package lesson

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

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
	l := parse(stage, source)
	return l, l.validate(r, string(source))
}

func parse(stage repository.Stage, source []byte) Lesson {
	l := Lesson{Stage: stage}
	document := goldmark.DefaultParser().Parse(text.NewReader(source))
	// What stands below a heading begins after its line and ends at the next heading.
	var current *Section
	begin := 0
	finish := func(end int) {
		body := strings.Trim(string(source[begin:max(begin, end)]), "\n") + "\n"
		if current == nil {
			l.Introduction = body
			return
		}
		current.Text = body
		l.Sections = append(l.Sections, *current)
	}
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		switch node := node.(type) {
		case *ast.Heading:
			start, words := headingOf(node, source)
			switch {
			case node.Level == 1 && l.Title == "":
				l.Title = words
				begin = lineEnd(source, start)
			case node.Level == 2:
				finish(lineStart(source, start))
				current = &Section{Heading: words, Line: lineOf(source, start)}
				begin = lineEnd(source, start)
			}
		case *ast.FencedCodeBlock:
			if block, ok := toRun(node, source); ok && current != nil {
				current.blocks = append(current.blocks, block)
			}
		}
	}
	finish(len(source))
	l.Steps = stepsOf(l.Sections)
	return l
}

func stepsOf(sections []Section) []Step {
	var steps []Step
	for _, section := range sections {
		if match := stepHeading.FindStringSubmatch(section.Heading); match != nil {
			number, _ := strconv.Atoi(match[1]) // too large a number is 0 here, and a gap to validate
			steps = append(steps, Step{Section: section, Number: number, Title: match[2], Blocks: section.blocks})
		}
	}
	return steps
}

// headingOf returns where the words of a heading begin, and the words as they stand
// there.
func headingOf(heading *ast.Heading, source []byte) (int, string) {
	if heading.Lines().Len() == 0 {
		return heading.Pos(), ""
	}
	segment := heading.Lines().At(0)
	return segment.Start, strings.TrimSpace(string(segment.Value(source)))
}

// toRun returns the block if its info string says that the reader runs it.
func toRun(fence *ast.FencedCodeBlock, source []byte) (Block, bool) {
	if fence.Info == nil {
		return Block{}, false
	}
	info := strings.Fields(string(fence.Info.Segment.Value(source)))
	if len(info) < 2 || info[0] != "bash" || info[1] != "exec" {
		return Block{}, false
	}
	var code strings.Builder
	for i := range fence.Lines().Len() {
		segment := fence.Lines().At(i)
		code.Write(segment.Value(source))
	}
	return Block{
		Line:    lineOf(source, fence.Info.Segment.Start),
		Code:    code.String(),
		OnlyLab: len(info) > 2 && info[2] == "lab",
	}, true
}

// lineOf returns the number of the line that an offset lies in.
func lineOf(source []byte, offset int) int {
	return 1 + bytes.Count(source[:offset], []byte("\n"))
}

func lineStart(source []byte, offset int) int {
	return 1 + bytes.LastIndexByte(source[:offset], '\n')
}

func lineEnd(source []byte, offset int) int {
	if end := bytes.IndexByte(source[offset:], '\n'); end >= 0 {
		return offset + end + 1
	}
	return len(source)
}
