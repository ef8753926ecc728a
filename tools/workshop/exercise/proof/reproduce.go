package proof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/markdown"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// blockTimeout is how long the block of a reproduction may take.
const blockTimeout = 5 * time.Minute

// A reproduction is the block of an exercise's page that shows the mistake, and the output that
// the page shows below it.
type reproduction struct {
	exercise.Exercise
	block, output string
	where         string // the place of the block, such as 01-client-list/lesson/exercises/login/README.md:20
}

// Reproduce runs the reproductions of the targets, with the patch and without. They run one after
// the other, because they share a lab, and some of them use fixed ports or change its scheduler.
// If the lab is not built, there is none: then only those pass that need no cluster.
func (p *Prover) Reproduce(ctx context.Context, targets []Target) (err error) {
	s, err := p.takeSlot(ctx, p.Repository)
	if err != nil {
		return err
	}
	defer s.Free()
	reproductions, failed, err := p.reproductions(s.Repository, targets)
	if err != nil {
		return err
	}
	b, err := newBench(s, p.Timeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.end(ctx)) }()
	passed := 0
	for _, r := range reproductions {
		ok, err := p.reproduce(ctx, b, r)
		if err != nil {
			return err
		}
		if ok {
			passed++
		} else {
			failed++
		}
	}
	return p.conclude("reproductions", passed, failed)
}

// reproductions reads the pages of the targets. It reports each page that cannot be used, and
// returns how many these are. Nobody can reproduce an exercise to build, or a try: there is only a stub.
func (p *Prover) reproductions(r repository.Repository, targets []Target) (found []reproduction, failed int, err error) {
	for _, target := range targets {
		for _, name := range target.Names {
			e, err := exercise.Load(r, target.Stage, name)
			if problems, bad := errors.AsType[exercise.Problems](err); bad {
				p.report(e.Folder(), problems...)
				failed++
				continue
			}
			if e.Judge.Kind == exercise.Try {
				continue // its task is in the lesson
			}
			page, err := os.ReadFile(r.Path(e.Folder(), "README.md"))
			if err != nil {
				return nil, 0, fmt.Errorf("reading an exercise: %w", err)
			}
			reproduction, problem := readReproduction(e, string(page))
			switch {
			case problem != "":
				p.report(reproduction.where, problem)
				failed++
			case reproduction.block != "":
				found = append(found, reproduction)
			}
		}
	}
	return found, failed, nil
}

// readReproduction finds the block below the heading Reproduce it, and the output below the
// block. It returns an empty block if there is no such heading.
func readReproduction(e exercise.Exercise, page string) (r reproduction, problem string) {
	r = reproduction{Exercise: e, where: path.Join(e.Folder(), "README.md")}
	document := markdown.Parse(page)
	i := slices.IndexFunc(document.Sections, func(s markdown.Section) bool { return s.Heading == "Reproduce it" })
	if i < 0 {
		return r, ""
	}
	section := document.Sections[i]
	at := func(line int) string { return fmt.Sprintf("%s:%d", path.Join(e.Folder(), "README.md"), line) }
	r.where = at(section.Line)
	var fences []markdown.Fence
	for _, fence := range document.Fences {
		if section.Contains(fence.Range) {
			fences = append(fences, fence)
		}
	}
	switch {
	case e.Judge.Kind == exercise.Build:
		return r, "an exercise of kind: build has nothing to reproduce"
	case len(fences) == 0 || fences[0].Info != "sh":
		return r, "the section has no block of sh that reproduces it"
	case len(fences) == 1 || fences[1].Info != "text":
		return r, "the block has no output below it (a block of text)"
	}
	r.block, r.output, r.where = fences[0].Code, fences[1].Code, at(fences[0].Line)
	return r, ""
}

// reproduce runs a reproduction with the patch and without, and reports whether it shows the mistake.
func (p *Prover) reproduce(ctx context.Context, b *bench, r reproduction) (ok bool, err error) {
	began := time.Now()
	problem, err := b.try(ctx, r)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil {
		problem = err.Error()
	}
	if problem != "" {
		p.print("%s is NOT reproduced (%s)\n", r.ID(), since(began))
		p.report(r.where, problem)
		return false, nil
	}
	p.print("%s is reproduced (%s)\n", r.ID(), since(began))
	return true, nil
}
