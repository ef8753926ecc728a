// Package proof proves that the exercises are honest: with its patch a stage
// compiles, and exactly the named tests fail, for the stated reason; without it they
// pass.
package proof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// A Prover proves exercises in a clean clone.
type Prover struct {
	Clone   repository.Repository
	Assets  string        // the folder of the API server
	Timeout time.Duration // for one run of the tests of a stage
	Out     io.Writer

	problems []string
	proved   int
}

// errTooLong is why a run of tests was ended.
var errTooLong = errors.New("the tests take too long; the limit is --timeout")

// Prove proves what the targets name, or everything. It tries all of it, and its error
// says how many are not honest; each problem is printed with its exercise.
func (p *Prover) Prove(ctx context.Context, targets []Target) error {
	for _, target := range targets {
		if err := p.proveStage(ctx, target); err != nil {
			return err
		}
	}
	if len(p.problems) == 0 && p.proved == 1 {
		fmt.Fprintln(p.Out, "\nThe exercise is honest.")
		return nil
	}
	if len(p.problems) == 0 {
		fmt.Fprintf(p.Out, "\nAll %d exercises are honest.\n", p.proved)
		return nil
	}
	fmt.Fprintln(p.Out)
	for _, problem := range p.problems {
		fmt.Fprintln(p.Out, problem)
	}
	if len(p.problems) == 1 {
		return errors.New("there is one problem with the exercises, see above")
	}
	return fmt.Errorf("there are %d problems with the exercises, see above", len(p.problems))
}

func (p *Prover) report(where string, problems []string) {
	for _, problem := range problems {
		p.problems = append(p.problems, where+": "+problem)
	}
}

func (p *Prover) proveStage(ctx context.Context, target Target) error {
	stage := target.Stage
	fmt.Fprintf(p.Out, "%s\n", stage.Folder)
	var exercises, complete []exercise.Exercise
	for _, name := range target.Names {
		e, err := exercise.Load(p.Clone, stage, name)
		exercises = append(exercises, e)
		if problems, bad := errors.AsType[exercise.Problems](err); bad {
			p.report(e.Folder(), problems)
			fmt.Fprintf(p.Out, "  %s is not complete\n", name)
			continue
		}
		complete = append(complete, e)
	}
	if target.Whole {
		p.report(stage.Folder, stageRules(exercises))
	}
	if len(complete) == 0 {
		return nil
	}
	exercise.Sort(complete)
	return p.proveExercises(ctx, stage, complete)
}

func (p *Prover) proveExercises(ctx context.Context, stage repository.Stage, exercises []exercise.Exercise) error {
	module := p.module(stage)
	packages, err := module.Packages(ctx)
	if err != nil {
		return err
	}
	// Installing a lab is slow; it is done only for exercises that ask for it.
	of := func(exercises ...exercise.Exercise) []string {
		return slices.DeleteFunc(slices.Clone(packages), func(pkg string) bool {
			asks := func(e exercise.Exercise) bool { return slices.Contains(e.Packages(), pkg) }
			return path.Base(pkg) == "e2e" && !slices.ContainsFunc(exercises, asks)
		})
	}
	began := time.Now()
	report, err := p.test(ctx, module, of(exercises...))
	if err != nil {
		return p.judgeError(ctx, stage.Folder, err)
	}
	if problems := report.Problems(module.Dir); len(problems) > 0 {
		for i := range problems {
			problems[i] = "without any patch " + problems[i]
		}
		p.report(stage.Folder, append(problems, "its exercises cannot be proved before that passes"))
		p.say("without any patch its tests do not pass", began)
		return nil
	}
	p.say("without a patch all tests pass", began)
	for _, e := range exercises {
		if err := p.proveExercise(ctx, module, e, of(e)); err != nil {
			return err
		}
	}
	return nil
}

func (p *Prover) proveExercise(ctx context.Context, module gotest.Module, e exercise.Exercise, packages []string) (err error) {
	began, before := time.Now(), len(p.problems)
	defer func() {
		if len(p.problems) > before {
			p.say(e.Name+" is NOT honest", began)
		} else if err == nil {
			p.say(e.Name+" is honest", began)
		}
	}()
	p.proved++
	files, problems := patchRules(ctx, p.Clone, e)
	if p.report(e.Folder(), problems); len(problems) > 0 {
		return nil
	}
	if _, err := p.Clone.Git(ctx, "apply", e.Patch()); err != nil {
		p.report(e.Folder(), []string{fmt.Sprintf("break.patch no longer applies: %v; make it anew", err)})
		return ctx.Err()
	}
	defer func() { err = errors.Join(err, p.clean(context.WithoutCancel(ctx))) }()
	p.report(e.Folder(), formatted(p.Clone, files))
	if err := module.Vet(ctx, "./..."); err != nil {
		p.report(e.Folder(), []string{fmt.Sprintf("with the patch the stage does not compile, or go vet complains:%s", gotest.Indent(strings.Split(err.Error(), "\n")))})
		return ctx.Err()
	}
	report, err := p.test(ctx, module, packages)
	if err != nil {
		return p.judgeError(ctx, e.Folder(), err)
	}
	p.report(e.Folder(), compare(e.Judge.Tests, report, module.Dir))
	return p.lookTwice(ctx, module, e, strays(e.Judge.Tests, report, module.Dir))
}

// lookTwice reports the strays that fail again. A test that has nothing to do with the
// patch may fail on a busy machine, and that is not the exercise's fault; so it says
// whom it has looked at twice.
func (p *Prover) lookTwice(ctx context.Context, module gotest.Module, e exercise.Exercise, suspects []stray) error {
	if len(suspects) == 0 {
		return nil
	}
	packages := []string{"-count=1"}
	for _, s := range suspects {
		fmt.Fprintf(p.Out, "    %s of %s failed, though it is not named; looking at it once more:%s\n", s.test, gotest.Place(s.pkg), s.output)
		if !slices.Contains(packages, s.pkg) {
			packages = append(packages, s.pkg)
		}
	}
	report, err := p.test(ctx, module, packages)
	if err != nil {
		return p.judgeError(ctx, e.Folder(), err)
	}
	for _, again := range strays(e.Judge.Tests, report, module.Dir) {
		same := func(s stray) bool { return s.pkg == again.pkg && s.test == again.test }
		if slices.ContainsFunc(suspects, same) {
			p.report(e.Folder(), []string{again.String()})
		}
	}
	return nil
}

// judgeError makes a problem of an error that is not the end of everything.
func (p *Prover) judgeError(ctx context.Context, where string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.report(where, []string{err.Error()})
	return nil
}

func (p *Prover) module(stage repository.Stage) gotest.Module {
	return gotest.Module{
		Dir:    p.Clone.Path(stage.Folder),
		Assets: p.Assets,
		Slow: func(after time.Duration, doing string) {
			if after%(time.Minute) < 10*time.Second && after >= time.Minute {
				fmt.Fprintf(p.Out, "    %s: %s\n", after, doing)
			}
		},
	}
}

// test runs the tests of the packages. Without -count=1 the go command runs only the
// packages again that the patch touches.
func (p *Prover) test(ctx context.Context, module gotest.Module, packages []string) (*gotest.Report, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, errTooLong)
	defer cancel()
	return module.Test(ctx, packages...)
}

// clean takes back what the patch did.
func (p *Prover) clean(ctx context.Context) error {
	if _, err := p.Clone.Git(ctx, "reset", "--quiet", "--hard"); err != nil {
		return err
	}
	_, err := p.Clone.Git(ctx, "clean", "--quiet", "--force", "-d")
	return err
}

func (p *Prover) say(what string, began time.Time) {
	fmt.Fprintf(p.Out, "  %s (%s)\n", what, time.Since(began).Round(100*time.Millisecond))
}
