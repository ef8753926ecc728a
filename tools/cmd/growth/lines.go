package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// everywhere are lines that say nothing about a program.
var everywhere = []string{"if err != nil {", "return err", "return nil"}

// bodyLines are the lines of code in the bodies of a file's functions, without comments, indentation
// and what is only brackets.
func bodyLines(source string) ([]string, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	code := withoutComments(source)
	var lines []string
	for _, declaration := range parsed.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		begin, end := files.Position(function.Body.Lbrace).Line, files.Position(function.Body.Rbrace).Line
		for number := begin + 1; number < end; number++ {
			line := strings.TrimSpace(code[number-1])
			if strings.Trim(line, "(){}[], ") != "" && !slices.Contains(everywhere, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines, nil
}

// withoutComments returns the lines of a file that parses, with spaces in the place of comments.
func withoutComments(source string) []string {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, scanner.ScanComments)
	code := []byte(source)
	for {
		position, kind, text := s.Scan()
		if kind == token.EOF {
			return strings.Split(string(code), "\n")
		}
		if kind != token.COMMENT {
			continue
		}
		begin := file.Offset(position)
		for i := begin; i < begin+len(text); i++ {
			if code[i] != '\n' {
				code[i] = ' '
			}
		}
	}
}

// declarations returns what follows the imports of a file.
func declarations(source string) (string, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.ImportsOnly)
	if err != nil {
		return "", err
	}
	end := parsed.Name.End()
	for _, declaration := range parsed.Decls {
		end = declaration.End()
	}
	return strings.TrimLeft(source[files.Position(end).Offset:], "\n"), nil
}
