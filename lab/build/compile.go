package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// unfinished is the binary while it is being built.
const unfinished = "bin/lab.unfinished"

// compile compiles what is stale and links the program. What the compiler has
// to say is printed in full.
func compile(ctx context.Context, screen *display, start time.Time, p plan, version string) error {
	progress := progress{plan: p, linking: p.stale == 0}
	// Without -buildvcs=false, Go writes the commit into the program: each commit would make
	// another one, and tests whose results are kept for a program would all run again.
	command := exec.CommandContext(ctx, "go", "build", "-v", "-buildvcs=false", "-ldflags", linkerFlags(version), "-o", unfinished, program)
	err := follow(command, func(line string) {
		if !progress.read(line) {
			screen.Print(line)
		}
	}, func() {
		screen.Show(progress.line(time.Since(start)))
	})
	if err != nil {
		return fmt.Errorf("compiling: %w", err)
	}
	return nil
}

// linkerFlags leave out the symbol table and the debugger's tables, a third of
// the binary, and tell Kubernetes its version. Kubernetes gets it from its own
// build scripts; without it the scheduler and kubectl do not start.
func linkerFlags(version string) string {
	flags := []string{"-s", "-w"}
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+version,
			"-X", pkg+".gitMajor="+parts[0],
			"-X", pkg+".gitMinor="+parts[1])
	}
	return strings.Join(flags, " ")
}

// progress is how far "go build -v" is. It prints a package's import path when
// it starts to compile it, and nothing when it starts to link.
type progress struct {
	plan    plan
	started int
	linking bool
}

// read takes one line of Go's output and reports whether it told of progress.
func (p *progress) read(line string) bool {
	if !p.plan.packages[line] {
		return false
	}
	if line == p.plan.main {
		p.linking = true
	} else {
		p.started++
	}
	return true
}

// line is what the display shows.
func (p *progress) line(since time.Duration) string {
	if p.linking {
		return "linking, " + elapsed(since)
	}
	return fmt.Sprintf("compiling %d of %d packages, %s", p.started, max(p.plan.stale, p.started), elapsed(since))
}

// downloading is what the display shows before it is known what to compile.
func downloading(modules int, since time.Duration) string {
	if modules == 0 {
		return "finding what to compile, " + elapsed(since)
	}
	return fmt.Sprintf("downloading modules, %d so far, %s", modules, elapsed(since))
}

// elapsed prints a duration as people say it: no fractions.
func elapsed(d time.Duration) string {
	return d.Truncate(time.Second).String()
}
