// Command words finds in the Go code of the stages words of our own for which Kubernetes
// has a name: a reader searches for what he has read here. It looks at what the code
// declares, at the names of its files, and for a few phrases at comments and strings. In all Markdown it finds
// a few words that nobody says aloud.
//
//	words [FOLDER]
//
// It prints a line for each, and then exits with 1.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	os.Exit(run(root, os.Stdout, os.Stderr))
}

func run(root string, stdout, stderr io.Writer) int {
	count, findings, err := check(root)
	pages, words, err2 := prose(root)
	if err := cmp.Or(err, err2); err != nil {
		fmt.Fprintln(stderr, "words:", err)
		return 1
	}
	findings = append(findings, words...)
	if count == 0 && len(findings) == 0 {
		fmt.Fprintf(stderr, "words: %s has no Go code of a stage to check; name the root of the repository\n", root)
		return 1
	}
	for _, finding := range findings {
		fmt.Fprintln(stderr, finding)
	}
	if len(findings) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "%d files have the words of Kubernetes, and %d pages those that people say\n", count, pages)
	return 0
}
