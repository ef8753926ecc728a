package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
)

// A size is how many lines there are.
type size struct{ code, tests int }

// sizes are the sizes of packages: by module, then by folder in the module.
type sizes map[string]map[string]size

// count counts files, of which the go.mod files say which modules there are.
func count(files map[string]string) (sizes, error) {
	parsed := map[string]*ast.File{}
	testFolders := map[string]bool{} // of packages that only tests import
	for name, content := range files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed[name] = file
		if !strings.HasSuffix(name, "_test.go") && importsTesting(file) {
			testFolders[path.Dir(name)] = true
		}
	}
	counted := sizes{}
	for name, file := range parsed {
		module := moduleOf(files, name)
		if counted[module] == nil {
			counted[module] = map[string]size{}
		}
		if ast.IsGenerated(file) || strings.Contains("/"+name, "/generated/") {
			continue
		}
		pkg := path.Join(".", strings.TrimPrefix(path.Dir(name), module))
		s := counted[module][pkg]
		if testFolders[path.Dir(name)] || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testdata/") {
			s.tests += lines(files[name])
		} else {
			s.code += lines(files[name])
		}
		counted[module][pkg] = s
	}
	return counted, nil
}

// moduleOf returns the innermost folder with a go.mod that a file lies in.
func moduleOf(files map[string]string, name string) string {
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if _, ok := files[folder+"/go.mod"]; ok {
			return folder
		}
	}
	return "."
}

// importsTesting reports whether a file takes a testing.T: a program does not.
func importsTesting(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` })
}

// lines counts the lines that hold something of the language. A string over several
// lines counts with all of them.
func lines(content string) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(content))
	var s scanner.Scanner
	s.Init(file, []byte(content), nil, 0) // without comments
	held := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(held)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // the scanner's own
		}
		first := file.Line(pos)
		for i := range 1 + strings.Count(literal, "\n") {
			held[first+i] = true
		}
	}
}

// print writes a table: a line for each module, and below it its packages.
func (s sizes) print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, s size) { fmt.Fprintf(table, "%d\t%d\t  %s\n", s.code, s.tests, name) }
	fmt.Fprintln(table, "CODE\tTESTS\t  MODULE, PACKAGE")
	var total size
	for _, module := range slices.Sorted(maps.Keys(s)) {
		var sum size
		for _, each := range s[module] {
			sum.add(each)
		}
		total.add(sum)
		row(module, sum)
		for _, pkg := range slices.Sorted(maps.Keys(s[module])) {
			row("    "+pkg, s[module][pkg])
		}
	}
	row("all", total)
	_ = table.Flush() // as good as the writer
}

func (s *size) add(other size) {
	s.code += other.code
	s.tests += other.tests
}
