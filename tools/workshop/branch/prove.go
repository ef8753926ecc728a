package branch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/links"
	"example.com/hacking-a-controller/tools/workshop/process"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/targets"
)

// A Prover shows that the branches hold what they promise. A module that is byte for byte
// that of the commit they were cut from was tested there: `make test` does that. What
// differs is tested.
type Prover struct {
	Cutter Cutter
	// Out gets the progress, and what the go command prints.
	Out io.Writer
}

// Prove cuts the branches of a clean clone, twice, and proves each of them there. The
// clone has to have the lab's programs: no branch changes the lab, so none has to build
// it. It ends on the last branch, which has all stages.
func (p Prover) Prove(ctx context.Context, clone repository.Repository) error {
	whole, err := clone.Git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	branches, err := p.Cutter.Cut(ctx, clone)
	if err != nil {
		return err
	}
	again, err := p.Cutter.Cut(ctx, clone)
	if err != nil {
		return err
	}
	if !slices.Equal(branches, again) {
		return fmt.Errorf("cutting is not deterministic: %v, and a second time %v", branches, again)
	}
	var failed []error
	for i, b := range branches {
		start := time.Now()
		if err := p.proveOne(ctx, clone, whole, b, branches[i+1:]); err != nil {
			failed = append(failed, fmt.Errorf("branch %s: %w", b.Name, err))
			continue
		}
		fmt.Fprintf(p.Out, "branch %s is whole (%s)\n", b.Name, time.Since(start).Round(time.Second))
	}
	fmt.Fprintf(p.Out, "branches: %d passed, %d failed\n", len(branches)-len(failed), len(failed))
	return errors.Join(failed...)
}

func (p Prover) proveOne(ctx context.Context, clone repository.Repository, whole string, b Branch, gone []Branch) error {
	if _, err := clone.Git(ctx, "switch", "--quiet", b.Name); err != nil {
		return err
	}
	stages, err := clone.Stages()
	if err != nil {
		return err
	}
	if last := stages[len(stages)-1]; last != b.Stage {
		return fmt.Errorf("its last stage is %s, not %s", last.Folder, b.Stage.Folder)
	}
	modules, err := modulesOf(ctx, clone, whole, gone)
	if err != nil {
		return err
	}
	if err := links.Check(clone); err != nil {
		return err
	}
	if err := targets.Check(ctx, clone); err != nil {
		return err
	}
	if err := p.checkWork(ctx, clone); err != nil {
		return err
	}
	for _, m := range modules {
		if err := p.test(ctx, clone, m, modules); err != nil {
			return fmt.Errorf("the tests of %s: %w", m.folder, err)
		}
	}
	return nil
}

// checkWork lets the go command read go.work.
func (p Prover) checkWork(ctx context.Context, clone repository.Repository) error {
	command := process.Command(ctx, "go", "list", "-m")
	command.Dir = clone.Root
	command.Env = process.Environment(nil, "GOWORK="+clone.Path("go.work"))
	command.Stderr = p.Out
	if err := command.Run(); err != nil {
		return fmt.Errorf("go.work does not fit: go list -m: %w", err)
	}
	return nil
}

// test runs those tests of a module that can say something new.
func (p Prover) test(ctx context.Context, clone repository.Repository, m *module, modules []*module) error {
	args, what := []string{"./..."}, "differs, and its tests pass"
	if !m.differs(modules) {
		if !m.texts {
			return nil
		}
		var err error
		if args, err = m.lessonTests(clone); len(args) == 0 {
			return err
		}
		what = "has other Markdown, and the tests that read it pass"
	}
	start := time.Now()
	tested := gotest.Module{Dir: clone.Path(m.folder), Assets: clone.Path("lab", "bin")}
	report, err := tested.Test(ctx, args...)
	if err != nil {
		return err
	}
	if wrong := report.Problems(tested.Dir); len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n"))
	}
	fmt.Fprintf(p.Out, "  %s %s (%s)\n", m.folder, what, time.Since(start).Round(time.Second))
	return nil
}
