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

// Check reports what zsh, the shell of macOS, reads otherwise than sh in a block of commands.
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
			for _, trap := range traps(fence.Code) {
				wrong = append(wrong, fmt.Errorf("%s:%d: %s: %s", file, fence.Line+int(trap.line), trap.why, trap.text))
			}
		}
		return nil
	})
	return errors.Join(append(wrong, err)...)
}

type trap struct {
	line      uint
	why, text string
}

// traps are the places in code that zsh reads otherwise. What is no shell, such as output, has none.
func traps(code string) []trap {
	parsed, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(code), "")
	if err != nil {
		return nil
	}
	var found []trap
	syntax.Walk(parsed, func(node syntax.Node) bool {
		if why := otherwise(node); why != "" {
			line := node.Pos().Line()
			found = append(found, trap{line, why, strings.TrimSpace(strings.Split(code, "\n")[line-1])})
		}
		return true
	})
	return found
}
