// Command versions checks that the modules of this repository agree: on the
// version of Go, on the version of Kubernetes, and on every module that two of
// them require by themselves. What is written in many go.mod files is raised in
// all of them or in none.
//
//	versions [FOLDER]
//
// It prints a sentence for each disagreement and then exits with 1.
package main

import (
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
	house, err := readHouse(root)
	if err != nil {
		fmt.Fprintln(stderr, "versions:", err)
		return 1
	}
	disagreements := house.disagreements()
	for _, sentence := range disagreements {
		fmt.Fprintln(stderr, sentence)
	}
	if len(disagreements) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "%d modules agree\n", house.modules)
	return 0
}
