// Command size counts the hand-written Go code of a commit: lines that are neither blank
// nor only comment, by module and package, tests apart. Generated code does not count.
//
//	size [REPOSITORY [COMMIT]]
//
// Without a commit it is the last one. What is not committed does not count.
package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	repository, commit := ".", "HEAD"
	switch len(args) {
	case 0:
	case 1:
		repository = args[0]
	case 2:
		repository, commit = args[0], args[1]
	default:
		fmt.Fprintln(stderr, "size: name a repository and a commit, no more: size . 9159487")
		return 2
	}
	sizes, err := measure(ctx, repository, commit)
	if err != nil {
		fmt.Fprintln(stderr, "size:", err)
		return 1
	}
	sizes.print(stdout)
	return 0
}

// measure reads the files of a commit as git archives them.
func measure(ctx context.Context, repository, commit string) (sizes, error) {
	command := exec.CommandContext(ctx, "git", "-C", repository, "archive", "--format=tar", commit, "--")
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting git: %w", err)
	}
	files, err := read(tar.NewReader(out))
	if wrong := command.Wait(); wrong != nil {
		return nil, fmt.Errorf("there is no commit %s in %s: %s", commit, repository, strings.TrimSpace(stderr.String()))
	}
	if err != nil {
		return nil, err
	}
	return count(files)
}

// read returns the Go files and the go.mod files of an archive, by their paths.
func read(archive *tar.Reader) (map[string]string, error) {
	files := map[string]string{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading what git archives: %w", err)
		}
		if !strings.HasSuffix(header.Name, ".go") && !strings.HasSuffix(header.Name, "/go.mod") {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", header.Name, err)
		}
		files[header.Name] = string(content)
	}
}
