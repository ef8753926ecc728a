// Command growth compares the page that a stage begins with, first/main.go, with the finished program
// that it grows into.
//
//	growth REPOSITORY      holds each stage to its floor: how much of its page has to stay
//	growth REPOSITORY 3    shows what the finished program of stage 3 adds to its page
//
// stages.txt has the floors, and the files of each finished program.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "growth: name the repository, and the number of a stage to see how it grows")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(repository string, numbers []string, out io.Writer) error {
	stages, err := read(repository, table)
	if err != nil {
		return err
	}
	if len(numbers) == 0 {
		return check(stages, out)
	}
	for _, s := range stages {
		if s.number() == numbers[0] {
			return s.show(out)
		}
	}
	return fmt.Errorf("there is no stage %s that grows; tools/cmd/growth/stages.txt names them", numbers[0])
}
