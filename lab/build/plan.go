package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// A plan says what a build has to do.
type plan struct {
	// packages holds the import path of every package of the program.
	packages map[string]bool
	// main is the import path of the program itself, the last to be compiled.
	main string
	// stale is how many of the others are not in the build cache. Go calls the
	// program itself stale even if only the linked binary is not there.
	stale int
}

// makePlan asks Go which packages the program consists of and which of them
// must be compiled. On a fresh machine that downloads every module that the
// build needs, and no other: Go says so on stderr, one line each.
func makePlan(ctx context.Context, screen *display, start time.Time) (plan, error) {
	downloads := 0
	var list bytes.Buffer
	command := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{.ImportPath}} {{.Stale}}", program)
	command.Stdout = &list
	err := follow(command, func(line string) {
		if strings.HasPrefix(line, "go: downloading ") {
			downloads++
			return
		}
		screen.Print(line)
	}, func() {
		screen.Show(downloading(downloads, time.Since(start)))
	})
	if err != nil {
		return plan{}, fmt.Errorf("finding what to compile: %w", err)
	}
	return parsePlan(list.String()), nil
}

// parsePlan reads lines of an import path and whether the package is stale. Go
// lists a package after what it imports, so the program comes last.
func parsePlan(list string) plan {
	p := plan{packages: make(map[string]bool)}
	lastStale := false
	for line := range strings.Lines(list) {
		path, stale, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.packages[path] = true
		p.main = path
		if lastStale = stale == "true"; lastStale {
			p.stale++
		}
	}
	if lastStale {
		p.stale--
	}
	return p
}
