package branch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Prover shows that the branches hold what they promise.
type Prover struct {
	Cutter Cutter
	// Out gets the progress, and what the tests print.
	Out io.Writer
}

// Prove cuts the branches of a clean clone, twice, and tests each of them there. The
// clone has to have the lab's programs: no branch changes the lab, so none has to build
// it. It ends on the last branch, which has all stages.
func (p Prover) Prove(ctx context.Context, clone repository.Repository) error {
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
	whole, err := clone.Git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	var failed []error
	for _, b := range branches {
		start := time.Now()
		if err := p.proveOne(ctx, clone, whole, b); err != nil {
			failed = append(failed, fmt.Errorf("branch %s: %w", b.Name, err))
			continue
		}
		fmt.Fprintf(p.Out, "branch %s is whole, builds and passes its tests (%s)\n", b.Name, time.Since(start).Round(time.Second))
	}
	return errors.Join(failed...)
}

func (p Prover) proveOne(ctx context.Context, clone repository.Repository, whole string, b Branch) error {
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
	// Its Markdown may have lost a link; nothing else may differ.
	changed, err := clone.Git(ctx, "diff", "--name-only", whole, "HEAD", "--", "lab", ":!*.md")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("it changes the lab: %s", changed)
	}
	if err := checkLinks(clone); err != nil {
		return err
	}
	return p.test(ctx, clone, stages)
}

// test runs what a reader of the branch would. The lab's own tests are not among it:
// they would say what they say on the branch that all of these were cut from. What an
// earlier branch has shown of a stage is in Go's cache.
func (p Prover) test(ctx context.Context, clone repository.Repository, stages []repository.Stage) error {
	if err := p.run(ctx, clone, []string{"GOWORK=" + clone.Path("go.work")}, "go", "list", "-m"); err != nil {
		return fmt.Errorf("go.work does not fit: %w", err)
	}
	for _, stage := range stages {
		if err := p.testStage(ctx, clone, stage); err != nil {
			return err
		}
	}
	if err := p.run(ctx, clone, nil, "make", "test-workshop", "test-tools", "RACE="); err != nil {
		return fmt.Errorf("its tests: %w", err)
	}
	return nil
}

// testStage does without make, so that whoever proves the exercises in the same clone
// can ask the very same and finds it in Go's cache.
func (p Prover) testStage(ctx context.Context, clone repository.Repository, stage repository.Stage) error {
	start := time.Now()
	module := gotest.Module{Dir: clone.Path(stage.Folder), Assets: clone.Path("lab", "bin")}
	report, err := module.Test(ctx, "./...")
	if err != nil {
		return fmt.Errorf("the tests of %s: %w", stage.Folder, err)
	}
	if wrong := report.Problems(module.Dir); len(wrong) > 0 {
		return fmt.Errorf("the tests of %s: %s", stage.Folder, strings.Join(wrong, "\n"))
	}
	fmt.Fprintf(p.Out, "  %s passes (%s)\n", stage.Folder, time.Since(start).Round(time.Second))
	return nil
}

// run runs a program at the top of the clone, in a process group that ends with ctx.
func (p Prover) run(ctx context.Context, clone repository.Repository, env []string, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = clone.Root
	command.Env = append(withoutMake(os.Environ()), env...)
	command.Stdout, command.Stderr = p.Out, p.Out
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = time.Minute
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// withoutMake is an environment in which make does not take itself for the child of
// another one, nor KUBEBUILDER_ASSETS for a wish of the user's.
func withoutMake(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "KUBEBUILDER_ASSETS"}, name)
	})
}
