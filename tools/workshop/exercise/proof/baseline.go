package proof

import (
	"context"
	"slices"
	"time"

	"example.com/hacking-a-controller/tools/workshop/exercise"
)

// proveStages runs the tests of the trials without a patch, and returns the trials of the
// modules where they pass. What was run before is answered from Go's cache.
func (p *Prover) proveStages(ctx context.Context, s *slot, trials []trial) ([]trial, error) {
	var modules []string // in the order of their trials
	of := map[string][]trial{}
	for _, t := range trials {
		if of[t.Module()] == nil {
			modules = append(modules, t.Module())
		}
		of[t.Module()] = append(of[t.Module()], t)
	}
	var passed []trial
	for _, module := range modules {
		ok, err := p.proveModule(ctx, s, module, of[module])
		if err != nil {
			return nil, err
		}
		if ok {
			passed = append(passed, of[module]...)
		}
	}
	return passed, nil
}

func (p *Prover) proveModule(ctx context.Context, s *slot, folder string, trials []trial) (passed bool, err error) {
	began := time.Now()
	var packages []string
	var named []exercise.Test
	for _, t := range trials {
		packages = append(packages, t.tested...)
		named = slices.Concat(named, t.Judge.Tests, t.Judge.Keeps)
	}
	slices.Sort(packages)
	module := p.module(s, folder, folder)
	module.Wait = 0 // all of these are to pass
	report, err := p.test(ctx, module, slices.Compact(packages)...)
	if err != nil {
		return false, p.judgeError(ctx, folder, err)
	}
	problems := report.Problems(module.Dir)
	for i := range problems {
		problems[i] = "without any patch " + problems[i]
	}
	if len(problems) == 0 {
		problems = notPassed(named, report)
	}
	if len(problems) > 0 {
		p.print("%s does NOT pass without a patch (%s)\n", folder, since(began))
		p.report(folder, append(problems, "its exercises cannot be proved before that passes")...)
		return false, nil
	}
	p.print("%s passes without a patch (%s)\n", folder, since(began))
	return true, nil
}

// judgeError makes a problem of an error that is not the end of everything.
func (p *Prover) judgeError(ctx context.Context, where string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.report(where, err.Error())
	return nil
}
