// Command pictures draws the pictures of the lessons: from each pictures/NAME.txt it
// writes pictures/NAME.svg, light and dark. The format of a text is at the top of draw.go.
//
//	pictures [--check] [FOLDER]
//
// With --check it writes nothing, names what is not current, and then exits with 1.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("pictures", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "write nothing; report what is not current")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	count, err := pictures(cmp.Or(flags.Arg(0), "."), *check)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintf(stdout, "pictures that are current: %d\n", count)
	return 0
}

// pictures draws all pictures in the folder and in those right below it, and returns
// how many there are.
func pictures(root string, check bool) (int, error) {
	sources, err := glob(root, "*.txt")
	if err != nil {
		return 0, err
	}
	var problems []error
	drawn := map[string]bool{}
	for _, source := range sources {
		picture := strings.TrimSuffix(source, ".txt") + ".svg"
		drawn[picture] = true
		problems = append(problems, write(source, picture, check))
	}
	present, err := glob(root, "*.svg")
	if err != nil {
		return 0, err
	}
	for _, picture := range present {
		if !drawn[picture] {
			problems = append(problems, fmt.Errorf("%s has no source: write %s.txt, or delete it", picture, strings.TrimSuffix(picture, ".svg")))
		}
	}
	if len(sources) == 0 {
		problems = append(problems, fmt.Errorf("%s has no pictures/*.txt; name the root of the repository", root))
	}
	return len(sources), errors.Join(problems...)
}

func glob(root, pattern string) ([]string, error) {
	top, err := filepath.Glob(filepath.Join(root, "pictures", pattern))
	if err != nil {
		return nil, err
	}
	stages, err := filepath.Glob(filepath.Join(root, "[0-9][0-9]-*", "pictures", pattern))
	return append(top, stages...), err
}

// write draws one picture. With check, one that is not current is an error.
func write(source, picture string, check bool) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	svg, err := draw(string(text))
	if err != nil {
		return fmt.Errorf("%s:%w", source, err)
	}
	if !check {
		return os.WriteFile(picture, svg, 0o644)
	}
	if old, err := os.ReadFile(picture); err != nil || !bytes.Equal(old, svg) {
		return fmt.Errorf("%s is not what %s describes: run make generate", picture, source)
	}
	return nil
}
