package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// voice has the words that nobody says aloud, and what to write instead.
var voice = []struct {
	instead string
	word    *regexp.Regexp
}{
	{"fix", regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`)},
	{"again", regexp.MustCompile(`(?i)\banew\b`)},
	{"forever", regexp.MustCompile(`(?i)\bfor\s+ever\b`)},
	{"anyone who, or what it is", regexp.MustCompile(`(?i)\bwhoever\b`)},
}

// generated are folders whose Markdown is made of other Markdown, or isn't of this repository.
var generated = map[string]bool{"katacoda": true, "bin": true, ".git": true, ".lab": true, ".workshop": true, "node_modules": true}

// prose reads all Markdown, and returns how many files that were and a line for each word of voice that isn't in code.
func prose(root string) (count int, findings []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && generated[entry.Name()]:
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		count++
		findings = append(findings, spoken(filepath.ToSlash(name), content)...)
		return err
	})
	return count, findings, err
}

// spoken looks at what a reader would read aloud: no code, and no output.
func spoken(name string, content []byte) (findings []string) {
	document := goldmark.DefaultParser().Parse(text.NewReader(content))
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node := node.(type) {
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if !entering {
				break
			}
			for _, v := range voice {
				for _, word := range v.word.FindAllString(string(node.Segment.Value(content)), -1) {
					line := 1 + strings.Count(string(content[:node.Segment.Start]), "\n")
					findings = append(findings, fmt.Sprintf("%s:%d: %q; write %s", name, line, word, v.instead))
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return findings
}
