package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"example.com/hacking-a-controller/tools/workshop/lesson"
)

// compileCommands returns the commands that compile, in the folder of the stage, what the
// steps of a lesson build, test, run or vet on a hosted node. They leave nothing behind but
// Go's cache.
func compileCommands(l lesson.Lesson, folder string) ([]string, error) {
	var commands []string
	for _, step := range l.Steps {
		for _, block := range step.Blocks {
			if block.OnlyLab {
				continue
			}
			file, err := syntax.NewParser().Parse(strings.NewReader(block.Code), "")
			if err != nil {
				return nil, fmt.Errorf("step %d: %w", step.Number, err)
			}
			syntax.Walk(file, func(node syntax.Node) bool {
				if call, ok := node.(*syntax.CallExpr); ok {
					if command := compileOnly(call, folder); command != "" && !slices.Contains(commands, command) {
						commands = append(commands, command)
					}
				}
				return true
			})
		}
	}
	return commands, nil
}

// compileOnly makes of a go command one that compiles the same, and of any other nothing.
func compileOnly(call *syntax.CallExpr, folder string) string {
	words := wordsOf(call)
	if len(words) < 2 || words[0] != "go" {
		return ""
	}
	switch verb, args := words[1], words[2:]; verb {
	case "build":
		return toCompile("go build -o /dev/null", withoutOutput(args), folder)
	case "run":
		isPackage := func(word string) bool { return !strings.HasPrefix(word, "-") }
		if i := slices.IndexFunc(args, isPackage); i >= 0 {
			return toCompile("go build -o /dev/null", args[:i+1], folder)
		}
	case "test":
		// What was compiled is given to true, which runs none of it.
		return toCompile("go test -exec=true -count=1", args, folder)
	case "vet":
		return toCompile("go vet", args, folder)
	}
	return ""
}

// wordsOf returns the words of a command, as they stand there.
func wordsOf(call *syntax.CallExpr) []string {
	var words []string
	for _, arg := range call.Args {
		var word strings.Builder
		_ = syntax.NewPrinter().Print(&word, arg) // a strings.Builder takes everything
		words = append(words, word.String())
	}
	return words
}

func withoutOutput(args []string) []string {
	if i := slices.Index(args, "-o"); i >= 0 && i+1 < len(args) {
		return slices.Delete(slices.Clone(args), i, i+2)
	}
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-o=") })
}

// toCompile is nothing if a package or a file is not there yet: a step makes it.
func toCompile(command string, args []string, folder string) string {
	for _, arg := range args {
		file, overlay := strings.CutPrefix(arg, "-overlay=")
		if !overlay && !strings.HasPrefix(arg, "./") && !strings.HasSuffix(arg, ".go") {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, strings.TrimSuffix(file, "/..."))); err != nil {
			return ""
		}
	}
	return strings.Join(append([]string{command}, args...), " ")
}
