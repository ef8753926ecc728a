// Package pasted looks for what a reader's shell does not take when he pastes a block into it.
package pasted

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// Check reports each comment in a block of commands. zsh, the shell of macOS, takes # for a
// word where commands are typed: "command not found: #", or one argument more.
func Check(r repository.Repository) error {
	var wrong []error
	err := links.EachText(r, func(path, text string) error {
		file, err := filepath.Rel(r.Root, path)
		// The scenarios are made of the lessons, and their fences are Katacoda's own.
		if err != nil || strings.HasPrefix(filepath.ToSlash(file), "katacoda/") {
			return err
		}
		for _, fence := range markdown.Parse(text).Fences {
			shell, _, _ := strings.Cut(fence.Info, " ")
			// What begins with #! is a file to read.
			if shell != "sh" && shell != "bash" || strings.HasPrefix(fence.Code, "#!") {
				continue
			}
			for _, line := range comments(fence.Code) {
				wrong = append(wrong, fmt.Errorf("%s:%d: zsh takes this for no comment: say it above the block: %s", file, fence.Line+int(line.number), line.text))
			}
		}
		return nil
	})
	return errors.Join(append(wrong, err)...)
}

type line struct {
	number uint
	text   string
}

// comments are the lines with a comment. What is no shell, such as output, has none.
func comments(code string) []line {
	parsed, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(code), "")
	if err != nil {
		return nil
	}
	var found []line
	syntax.Walk(parsed, func(node syntax.Node) bool {
		if comment, ok := node.(*syntax.Comment); ok {
			number := comment.Hash.Line()
			found = append(found, line{number, strings.TrimSpace(strings.Split(code, "\n")[number-1])})
		}
		return true
	})
	return found
}
