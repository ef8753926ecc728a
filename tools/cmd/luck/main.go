// Command luck finds what makes a test, a lesson or a script pass on one machine and fail on
// another that is busier: it knows the kinds that have made this repository's gate red.
//
//	luck [REPOSITORY]
//
// It prints a line for each, and then exits with 1. Where one is meant, a comment on its line or
// on the line above gives the reason:
//
//	// luck: the listener is open until the test ends
//
// The kinds are in golang.go and shell.go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/verdict"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	os.Exit(run(root, os.Stdout, os.Stderr))
}

func run(root string, stdout, stderr io.Writer) int {
	files, err := verdict.Files(context.Background(), repository.Repository{Root: root})
	if err != nil {
		fmt.Fprintf(stderr, "luck: listing the files of %s: %v\n", root, err)
		return 1
	}
	count, found := 0, 0
	for _, name := range files {
		checks := checksOf(name)
		if checks == nil {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			fmt.Fprintln(stderr, "luck:", err)
			return 1
		}
		count++
		findings, err := checks(content)
		if err != nil {
			fmt.Fprintf(stderr, "luck: %s: %v\n", name, err)
			return 1
		}
		lines := strings.Split(string(content), "\n")
		for _, f := range findings {
			if !excused(lines, f.line) {
				fmt.Fprintf(stderr, "%s:%d: %s\n", name, f.line, f.text)
				found++
			}
		}
	}
	if found > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "%d tests, lessons and scripts leave nothing to luck\n", count)
	return 0
}

// checksOf returns the function that checks a file, or nil if nothing in it is run. The
// scenarios are made from the lessons.
func checksOf(name string) func([]byte) ([]finding, error) {
	switch {
	case strings.HasPrefix(name, "katacoda/") || strings.Contains(name, "/testdata/"):
		return nil
	case strings.HasSuffix(name, "_test.go"):
		return checkGo
	case strings.HasSuffix(name, ".sh") && strings.Contains(name, "/lesson/checks/"):
		return checkStep
	case strings.HasSuffix(name, ".sh"):
		return checkScript
	case path.Base(name) == "README.md":
		return checkLesson
	}
	return nil
}

// A finding is what one line leaves to luck.
type finding struct {
	line int
	text string
}

// excused says whether a comment gives a reason for a line.
func excused(lines []string, line int) bool {
	for _, at := range []int{line, line - 1} {
		if at < 1 || at > len(lines) {
			continue
		}
		if _, reason, ok := strings.Cut(lines[at-1], "luck: "); ok && strings.TrimSpace(reason) != "" {
			return true
		}
	}
	return false
}
