// Package proof proves that the exercises are honest: with its patch a stage
// compiles, and exactly the named tests fail, for the stated reason; without it they
// pass. What is built group by group passes so, too.
package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/hacking-a-controller/tools/workshop/proving"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Prover proves the exercises of a repository, with what is not committed there yet.
type Prover struct {
	Repository repository.Repository
	Lab        repository.Repository // whose lab the tests use
	Cache      string                // the folder of the slots and the verdicts
	Program    string                // the path of this program
	Jobs       int                   // how many exercises are proved at once
	Timeout    time.Duration         // for one run of tests, or the block of a reproduction
	Tested     bool                  // the stages are known to pass their tests
	Dependents bool                  // what depends on the touched packages is tested, too
	Fresh      bool                  // no verdict of an earlier run is taken
	Out        io.Writer

	mu       sync.Mutex // guards Out and what follows
	problems []problem
	honest   int // exercises
}

// A problem is one sentence, and the folder that it is about.
type problem struct{ where, what string }

// Prove proves what the targets name. It tries all of it, and its error says how many
// problems there are; each is printed when it is found, and once more at the end.
func (p *Prover) Prove(ctx context.Context, targets []Target) error {
	first, err := p.takeSlot(ctx, p.Repository)
	if err != nil {
		return err
	}
	defer first.Free()
	trials, err := p.plan(ctx, first, targets)
	if err != nil {
		return err
	}
	var left []trial
	var known []string
	for _, t := range trials {
		if p.Fresh || !t.verdict.Known() {
			left = append(left, t)
			continue
		}
		known = append(known, t.ID())
		proving.Record(ctx, proving.Entry{Kind: "exercise", Name: t.ID(), Result: proving.Cached})
	}
	if len(known) > 0 {
		p.print("%d of %d verdicts from the cache: %s\n", len(known), len(trials), strings.Join(known, ", "))
		p.honest += len(known)
	}
	if !p.Tested {
		tries, others := split(left)
		if others, err = p.proveStages(ctx, first, others); err != nil {
			return err
		}
		left = append(tries, others...)
	}
	if err := p.proveAll(ctx, first, left); err != nil {
		return err
	}
	all := 0
	for _, target := range targets {
		all += len(target.Names)
	}
	return p.conclude("exercises", p.honest, all-p.honest)
}

// conclude prints the problems, and how many exercises or reproductions have passed.
func (p *Prover) conclude(of string, passed, failed int) error {
	slices.SortStableFunc(p.problems, func(a, b problem) int { return cmp.Compare(a.where, b.where) })
	p.print("\n")
	for _, problem := range p.problems {
		p.print("%s: %s\n", problem.where, problem.what)
	}
	p.print("%s: %d passed, %d failed\n", of, passed, failed)
	switch len(p.problems) {
	case 0:
		return nil
	case 1:
		return errors.New("there is one problem with the exercises, see above")
	default:
		return fmt.Errorf("there are %d problems with the exercises, see above", len(p.problems))
	}
}

func (p *Prover) takeSlot(ctx context.Context, from repository.Repository) (*slot, error) {
	s, err := takeSlot(filepath.Join(p.Cache, "prove"))
	if err != nil {
		return nil, err
	}
	if err := s.fill(ctx, from, p.Lab); err != nil {
		s.Free()
		return nil, err
	}
	return s, nil
}

// proveAll proves the trials, several at once, each in a slot. Every slot holds the same
// commit as the first.
func (p *Prover) proveAll(ctx context.Context, first *slot, trials []trial) error {
	slots := []*slot{first}
	for len(slots) < min(p.Jobs, len(trials)) {
		s, err := p.takeSlot(ctx, first.Repository)
		if err != nil {
			return err
		}
		defer s.Free()
		slots = append(slots, s)
	}
	waiting := make(chan trial, len(trials))
	for _, t := range trials {
		waiting <- t
	}
	close(waiting)
	failed := make([]error, len(slots))
	drained, drain := context.WithCancel(ctx)
	defer drain()
	var all sync.WaitGroup
	for i, s := range slots {
		all.Go(func() {
			defer drain()
			if i >= besideLessons {
				select {
				case <-proving.Alone(ctx):
				case <-drained.Done(): // nothing is left to prove
				}
			}
			for t := range waiting {
				if failed[i] = p.prove(ctx, s, t); failed[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// besideLessons is how many exercises are proved at once while lessons are walked.
const besideLessons = 2

// report prints the problems at once, for who watches or may be cut short. conclude prints all of them again.
func (p *Prover) report(where string, problems ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, what := range problems {
		p.problems = append(p.problems, problem{where, what})
		fmt.Fprintf(p.Out, "%s: %s\n", where, what)
	}
}

func (p *Prover) print(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.Out, format, args...)
}

func since(began time.Time) time.Duration { return time.Since(began).Round(100 * time.Millisecond) }
