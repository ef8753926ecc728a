package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed stages.txt
var table string

// A stage is a line of stages.txt.
type stage struct {
	folder string   // the path of 03-watch
	floor  int      // in percent
	files  []string // of the finished program
}

// read reads the lines of a table. A branch stage-N doesn't have the later stages.
func read(repository, table string) ([]stage, error) {
	var stages []stage
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		s := stage{folder: filepath.Join(repository, fields[0])}
		if _, err := os.Stat(s.folder); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if len(fields) > 2 {
			s.floor, _ = strconv.Atoi(fields[1])
			s.files = fields[2:]
		}
		if s.floor == 0 || len(s.files) == 0 {
			return nil, fmt.Errorf("stages.txt: %q isn't a stage, its floor and its files", strings.TrimSpace(line))
		}
		stages = append(stages, s)
	}
	return stages, nil
}

// number is what make calls the stage: 3 for 03-watch.
func (s stage) number() string {
	number, _, _ := strings.Cut(filepath.Base(s.folder), "-")
	return strings.TrimPrefix(number, "0")
}

// page is the source of first/main.go.
func (s stage) page() (string, error) {
	content, err := os.ReadFile(filepath.Join(s.folder, "first", "main.go"))
	return string(content), err
}

// finished are the sources of the finished program.
func (s stage) finished() ([]string, error) {
	var sources []string
	for _, file := range s.files {
		content, err := os.ReadFile(filepath.Join(s.folder, file))
		if err != nil {
			return nil, err
		}
		sources = append(sources, string(content))
	}
	return sources, nil
}

// check prints the share of each stage, and returns an error that names those below their floor.
func check(stages []stage, out io.Writer) error {
	var wrong []error
	for _, s := range stages {
		kept, of, err := s.share()
		if err != nil {
			return err
		}
		name, percent := filepath.Base(s.folder), 100*kept/max(1, of)
		fmt.Fprintf(out, "%s keeps %d of %d lines of its page: %d %%, the floor is %d %%\n", name, kept, of, percent, s.floor)
		if percent < s.floor {
			wrong = append(wrong, fmt.Errorf("%s: write it as its page with more lines; make grow-%s shows the difference", name, s.number()))
		}
	}
	return errors.Join(wrong...)
}

// share counts the body lines of the page, and those that the finished program has, too.
func (s stage) share() (kept, of int, err error) {
	page, err := s.page()
	if err != nil {
		return 0, 0, err
	}
	finished, err := s.finished()
	if err != nil {
		return 0, 0, err
	}
	want, err := bodyLines(page)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", s.folder, err)
	}
	have := map[string]int{}
	for _, source := range finished {
		lines, err := bodyLines(source)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", s.folder, err)
		}
		for _, line := range lines {
			have[line]++
		}
	}
	for _, line := range want {
		if have[line] > 0 {
			have[line]--
			kept++
		}
	}
	return kept, len(want), nil
}
