// Command versions checks that the modules of this repository agree: on the version of
// Go, on the version of Kubernetes, on every module that two of them require by
// themselves, and on every module that the lab and the stages compile. What is written in
// many go.mod files is raised in all of them or in none.
//
//	versions [FOLDER]
//
// It prints a sentence for each disagreement and then exits with 1.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// firstBuild is what `make stage-1` builds on a new machine. A newcomer waits for it, so
// it is to compile nothing twice.
var firstBuild = []program{{"lab", "./build"}, {"lab", "./cmd/lab"}, {"01-client-list", "."}}

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, root, firstBuild, os.Stdout, os.Stderr))
}

func run(ctx context.Context, root string, programs []program, stdout, stderr io.Writer) int {
	count, sentences, err := check(ctx, root, programs)
	if err != nil {
		fmt.Fprintln(stderr, "versions:", err)
		return 1
	}
	for _, sentence := range sentences {
		fmt.Fprintln(stderr, sentence)
	}
	if len(sentences) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "%d modules agree\n", count)
	return 0
}

// check returns how many modules there are, and a sentence for each disagreement.
func check(ctx context.Context, root string, programs []program) (int, []string, error) {
	m, err := readModules(root)
	if err != nil {
		return 0, nil, err
	}
	// Only a disagreement that is not in a go.mod file needs the go command.
	sentences := append(m.disagreements(), m.missingReplaces()...)
	if len(sentences) > 0 {
		return len(m.folders), sentences, nil
	}
	if err := m.addCompiled(ctx, root); err != nil {
		return 0, nil, err
	}
	if sentences = m.disagreements(); len(sentences) > 0 {
		return len(m.folders), sentences, nil
	}
	sentences, err = compiledTwice(ctx, root, programs...)
	return len(m.folders), sentences, err
}
