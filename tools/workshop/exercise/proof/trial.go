package proof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/proving"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/verdict"
)

// A trial is an exercise that is to be proved.
type trial struct {
	exercise.Exercise
	files []string // that its patch touches, from the top of the repository
	selection
	verdict verdict.Verdict
}

// plan reads the exercises, and reports those that need not be tried to be no good.
func (p *Prover) plan(ctx context.Context, s *slot, targets []Target) ([]trial, error) {
	var trials []trial
	for _, target := range targets {
		modules := map[string]*survey{}
		var exercises []exercise.Exercise
		for _, name := range target.Names {
			e, err := exercise.Load(s.Repository, target.Stage, name)
			exercises = append(exercises, e)
			if problems, bad := errors.AsType[exercise.Problems](err); bad {
				p.print("%s is not complete\n", e.ID())
				p.report(e.Folder(), problems...)
				continue
			}
			files, problems := rules(ctx, s.Repository, e)
			if len(problems) > 0 {
				p.print("%s is NOT honest\n", e.ID())
				p.report(e.Folder(), problems...)
				continue
			}
			if modules[e.Module()] == nil {
				if modules[e.Module()], err = p.survey(ctx, s, e); err != nil {
					return nil, err
				}
			}
			m := modules[e.Module()]
			t := trial{Exercise: e, files: files, selection: selectPackages(m.packages, e, files, p.Dependents)}
			if t.verdict, err = p.verdict(ctx, s.Repository, m, t); err != nil {
				return nil, err
			}
			trials = append(trials, t)
		}
		if target.Whole {
			p.report(target.Stage.Folder, stageRules(exercises)...)
		}
	}
	return trials, ctx.Err()
}

// rules returns the files that the patches of an exercise touch, and says what is wrong with that.
func rules(ctx context.Context, r repository.Repository, e exercise.Exercise) (files, problems []string) {
	if e.Judge.Kind == exercise.Try {
		return tryRules(ctx, r, e)
	}
	files, problems = patchRules(ctx, r, e, e.Patch())
	if e.Judge.Kind == exercise.Build {
		problems = append(problems, buildRules(ctx, r, e, files)...)
	}
	return files, problems
}

// A survey is what is known of a module before its exercises are tried.
type survey struct {
	packages    []gotest.Listing
	tagged      []gotest.Listing // the same, and again as tries compile them
	fingerprint string
	module      string   // its folder, from the top of the repository
	needed      []string // the folders of it, of the stage, and of the modules that it replaces others by
	files       []file   // in these
}

// prove proves one exercise.
func (p *Prover) prove(ctx context.Context, s *slot, t trial) error {
	began := time.Now()
	problems, err := p.try(ctx, s, t)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		p.print("%s is NOT honest (%s)\n", t.ID(), since(began))
		p.report(t.Folder(), problems...)
		proving.Record(ctx, proving.Entry{Kind: "exercise", Name: t.ID(), Took: time.Since(began), Result: proving.Failed})
		return nil
	}
	p.print("%s is honest (%s)\n", t.ID(), since(began))
	proving.Record(ctx, proving.Entry{Kind: "exercise", Name: t.ID(), Took: time.Since(began), Result: proving.Passed})
	p.mu.Lock()
	p.honest++
	p.mu.Unlock()
	return t.verdict.Save()
}

// try breaks the code of a slot and says what is wrong with the exercise.
func (p *Prover) try(ctx context.Context, s *slot, t trial) (problems []string, err error) {
	if err := s.restore(ctx); err != nil {
		return nil, err
	}
	if t.Judge.Kind == exercise.Try {
		return p.tries(ctx, s, t)
	}
	if err := s.apply(ctx, t.Patch()); err != nil {
		return []string{fmt.Sprintf("break.patch no longer applies: %v; make it again", err)}, nil
	}
	module := p.module(s, t.Module(), t.ID())
	problems = formatted(s.Repository, t.files)
	if err := p.vet(ctx, module, t.compiled); err != nil {
		return append(problems, "with the patch the stage does not compile, or go vet complains:"+gotest.Indent(strings.Split(err.Error(), "\n"))), nil
	}
	more, err := p.failures(ctx, module, t)
	problems = append(problems, more...)
	if err != nil {
		return problems, err
	}
	if p.Dependents { // which may take long
		more, err = p.failuresWithoutServer(ctx, s, module, t)
		problems = append(problems, more...)
		if err != nil {
			return problems, err
		}
	}
	if t.Judge.Kind != exercise.Build || len(problems) > 0 {
		return problems, nil
	}
	if problems, err = p.build(ctx, s, t); err != nil {
		return problems, err
	}
	wrong, err := p.seed(ctx, s, t)
	return append(problems, wrong...), err
}

// failures runs the tests, and says where not exactly the named ones fail. What judge.yaml
// lists under besides is run separately, and only if it is a named one.
func (p *Prover) failures(ctx context.Context, module gotest.Module, t trial) (problems []string, err error) {
	var named, besides []exercise.Test
	for _, test := range t.Judge.Tests {
		if test.Besides(t.Judge.Besides) {
			besides = append(besides, test)
		} else {
			named = append(named, test)
		}
	}
	args := t.tested
	if len(t.Judge.Besides) > 0 {
		var skipped []exercise.Test
		for _, name := range t.Judge.Besides {
			skipped = append(skipped, exercise.Test{Test: name})
		}
		args = append([]string{"-skip", exercise.Pattern(skipped)}, args...)
	}
	report, err := p.test(ctx, module, args...)
	if err != nil {
		return nil, err
	}
	late, err := p.late(ctx, module, named, report)
	if err != nil {
		return nil, err
	}
	problems = slices.Concat(compare(named, report, module.Dir), strays(slices.Concat(named, late), report, module.Dir))
	if len(besides) == 0 {
		return problems, nil
	}
	report, err = p.test(ctx, module, append([]string{"-run", exercise.Pattern(besides)}, exercise.Packages(besides)...)...)
	if err != nil {
		return problems, err
	}
	return slices.Concat(problems, compare(besides, report, module.Dir), strays(besides, report, module.Dir)), nil
}

// late returns the tests that failed, though judge.yaml does not name them, but pass when they may
// wait as long as they do by themselves. Wait is short for the sake of those that are to fail; on a
// busy machine it can be too short for one that passes. Those that had not waited are not
// run again: why they fail is not for lack of time.
func (p *Prover) late(ctx context.Context, module gotest.Module, named []exercise.Test, report *gotest.Report) ([]exercise.Test, error) {
	var suspects []exercise.Test
	for _, pkg := range report.Packages {
		for _, test := range pkg.Failures() {
			isNamed := func(t exercise.Test) bool { return t.Package == pkg.Path && gotest.Covers(t.Test, test.Name) }
			// One thing that it waits for may have a part of that time.
			if test.Took >= module.Wait/2 && !slices.ContainsFunc(named, isNamed) {
				suspects = append(suspects, exercise.Test{Package: pkg.Path, Test: test.Name})
			}
		}
	}
	if len(suspects) == 0 {
		return nil, nil
	}
	module.Wait = 0
	again, err := p.only(ctx, module, suspects)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(suspects, func(test exercise.Test) bool { return !passed(again, test) }), nil
}

// failuresWithoutServer runs the named tests once more if they are said to need no API server: a
// learner who has not built the lab must see them fail in the same way.
func (p *Prover) failuresWithoutServer(ctx context.Context, s *slot, module gotest.Module, t trial) (problems []string, err error) {
	needing, err := exercise.NeedAPIServer(s.Repository, t.Exercise)
	if err != nil || len(needing) > 0 {
		return nil, err
	}
	module.Variables = append(slices.Clip(module.Variables), "KUBEBUILDER_ASSETS="+s.Path("no", "lab"))
	report, err := p.only(ctx, module, t.Judge.Tests)
	if err != nil {
		return nil, err
	}
	for _, problem := range compare(t.Judge.Tests, report, module.Dir) {
		problems = append(problems, "without an API server, which its tests do not seem to need, "+problem)
	}
	return problems, nil
}

// vet shows that packages compile with their tests: to vet them is to type-check them.
func (p *Prover) vet(ctx context.Context, module gotest.Module, packages []string) error {
	if len(packages) == 0 {
		return nil // the patch touches data that no package knows of
	}
	return module.Vet(ctx, packages...)
}

// errTooLong is why a run of tests was ended.
var errTooLong = errors.New("the tests take too long; the limit is --timeout")

// shortWait is how long a test may wait for one thing that, as a rule, never comes. Tests of this
// package have less time.
var shortWait = time.Minute

// module returns the module in a folder. What takes long is told with a name.
func (p *Prover) module(s *slot, folder, name string) gotest.Module {
	return gotest.Module{
		Dir:    s.Path(folder),
		Assets: s.Path("lab", "bin"),
		Wait:   shortWait,
		Slow: func(after time.Duration, doing string) {
			if after%(time.Minute) < 10*time.Second && after >= time.Minute {
				p.print("    %s, %s: %s\n", name, after, doing)
			}
		},
	}
}

// test runs the tests of packages. They are vetted apart.
func (p *Prover) test(ctx context.Context, module gotest.Module, packages ...string) (*gotest.Report, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, errTooLong)
	defer cancel()
	return module.Test(ctx, append([]string{"-vet=off"}, packages...)...)
}
