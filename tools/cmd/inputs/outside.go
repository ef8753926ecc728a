package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// outside returns the files and folders of the repository, but not of the module, that
// the module's Go code names: each string that begins with ../ and leads, from the
// folder of the file that it stands in, to something that is there. Tests run in that
// folder, so that is how they name what they read.
func outside(repository, module string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != module && skipped(path, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		names, err := climbing(path)
		for _, name := range names {
			target := filepath.Join(filepath.Dir(path), name)
			if _, err := os.Stat(target); err == nil && within(repository, target) && !within(module, target) && !within(target, module) {
				found = append(found, target)
			}
		}
		return err
	})
	slices.Sort(found)
	return slices.Compact(found), err
}

// skipped says whether a folder is none of the module's: hidden, or a module itself.
func skipped(path, name string) bool {
	if strings.HasPrefix(name, ".") || name == "testdata" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// climbing returns the strings of a Go file that begin with ../
func climbing(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var names []string
	ast.Inspect(file, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if name, err := strconv.Unquote(literal.Value); err == nil && strings.HasPrefix(name, "../") {
			names = append(names, filepath.FromSlash(name))
		}
		return true
	})
	return names, nil
}

// within says whether path is folder, or lies in it.
func within(folder, path string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}
