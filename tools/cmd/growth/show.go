package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// show prints the difference between the page and the finished program, without packages, imports and
// indentation. A file of the finished program begins with a comment that names it.
func (s stage) show(out io.Writer) error {
	page, err := s.page()
	if err != nil {
		return err
	}
	finished, err := s.finished()
	if err != nil {
		return err
	}
	if page, err = declarations(page); err != nil {
		return err
	}
	var whole strings.Builder
	for i, source := range finished {
		rest, err := declarations(source)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintf(&whole, "\n// %s\n\n", s.files[i])
		}
		whole.WriteString(rest)
	}
	return difference(page, whole.String(), out)
}

// difference prints what git says about the two texts.
func difference(page, finished string, out io.Writer) error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "first"), 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"first/main.go": page, "finished.go": finished} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	git := exec.Command("git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--unified=3", "--patience", "--ignore-all-space",
		"--src-prefix=a/", "--dst-prefix=b/", "--", "first/main.go", "finished.go")
	git.Dir, git.Stdout, git.Stderr = dir, out, os.Stderr
	err = git.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // there is a difference
	}
	return err
}
