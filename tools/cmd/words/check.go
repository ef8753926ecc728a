package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// check returns how many files it has read, and a line for each thing to change.
func check(root string) (count int, findings []string, err error) {
	stages, err := filepath.Glob(filepath.Join(root, "[0-9][0-9]-*"))
	if err != nil {
		return 0, nil, err
	}
	for _, stage := range stages {
		err := filepath.WalkDir(stage, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			c := checker{fset: token.NewFileSet(), name: filepath.ToSlash(name)}
			file, err := parser.ParseFile(c.fset, path, nil, parser.ParseComments)
			if err != nil || ast.IsGenerated(file) {
				return err
			}
			count++
			findings = append(findings, c.check(file)...)
			return nil
		})
		if err != nil {
			return 0, nil, err
		}
	}
	return count, findings, nil
}

// A checker checks one file.
type checker struct {
	fset  *token.FileSet
	name  string
	found []finding
}

type finding struct {
	line int
	text string
}

func (c *checker) check(file *ast.File) []string {
	c.declaration(1, strings.TrimSuffix(filepath.Base(c.name), ".go"))
	ast.Inspect(file, func(node ast.Node) bool {
		for _, identifier := range declared(node) {
			c.declaration(c.line(identifier), identifier.Name)
		}
		if text, ok := node.(*ast.BasicLit); ok && text.Kind == token.STRING {
			c.text(c.line(text), text.Value)
		}
		return true
	})
	for _, comment := range file.Comments {
		c.comment(comment)
	}
	slices.SortStableFunc(c.found, func(a, b finding) int { return cmp.Compare(a.line, b.line) })
	var lines []string
	for _, f := range c.found {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", c.name, f.line, f.text))
	}
	return lines
}

// declared returns the identifiers that a node declares.
func declared(node ast.Node) []*ast.Ident {
	var expressions []ast.Expr
	switch node := node.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{node.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{node.Name}
	case *ast.ValueSpec:
		return node.Names
	case *ast.Field: // of a struct, an interface, parameters or results
		return node.Names
	case *ast.AssignStmt:
		if node.Tok == token.DEFINE {
			expressions = node.Lhs
		}
	case *ast.RangeStmt:
		if node.Tok == token.DEFINE {
			expressions = []ast.Expr{node.Key, node.Value}
		}
	}
	var identifiers []*ast.Ident
	for _, expression := range expressions {
		if identifier, ok := expression.(*ast.Ident); ok {
			identifiers = append(identifiers, identifier)
		}
	}
	return identifiers
}

// declaration checks a name that is declared.
func (c *checker) declaration(line int, name string) {
	for _, word := range split(name) {
		if instead, ok := glossary[word]; ok {
			c.found = append(c.found, finding{line, fmt.Sprintf("%q in %s; write %s", word, name, instead)})
		}
	}
}

// comment checks the comments of a group as one text: a phrase may go on in the next line.
func (c *checker) comment(group *ast.CommentGroup) {
	var text strings.Builder
	for _, comment := range group.List {
		text.WriteString(strings.TrimPrefix(comment.Text, "//") + "\n")
	}
	c.text(c.line(group), text.String())
}

// text looks for phrases in a text that begins in a line.
func (c *checker) text(line int, text string) {
	for instead, phrase := range phrases {
		for _, at := range phrase.FindAllStringIndex(text, -1) {
			c.found = append(c.found, finding{line + strings.Count(text[:at[0]], "\n"), fmt.Sprintf("%q; write %s", strings.Join(strings.Fields(text[at[0]:at[1]]), " "), instead)})
		}
	}
}

func (c *checker) line(node ast.Node) int { return c.fset.Position(node.Pos()).Line }

// split returns the words of a name in lower case: tellsHTTPCost has tells, http and cost.
func split(name string) []string {
	var words []string
	runes := []rune(name)
	start := 0
	for i := range runes {
		end := i+1 == len(runes)
		last := end || !unicode.IsLetter(runes[i]) ||
			unicode.IsLower(runes[i]) && !unicode.IsLower(runes[i+1]) ||
			unicode.IsUpper(runes[i]) && i+2 < len(runes) && unicode.IsUpper(runes[i+1]) && unicode.IsLower(runes[i+2])
		if last {
			words = append(words, strings.ToLower(strings.Trim(string(runes[start:i+1]), "_0123456789")))
			start = i + 1
		}
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}
