package proof

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/exercise/gotest"
	"example.com/hacking-a-controller/tools/workshop/repository"
	"example.com/hacking-a-controller/tools/workshop/verdict"
)

// verdict returns that of a trial, whose module's survey is m.
func (p *Prover) verdict(ctx context.Context, r repository.Repository, m *survey, t trial) (verdict.Verdict, error) {
	own, err := r.Git(ctx, "rev-parse", "HEAD:"+t.Folder())
	if err != nil {
		return verdict.Verdict{}, err
	}
	lines := []string{t.ID() + " " + own, m.fingerprint}
	compiled := m.compiles(slices.Concat(t.compiled, t.tested))
	for _, f := range m.files {
		if m.matters(t.Exercise, compiled, f.path) {
			lines = append(lines, f.path+" "+f.blob)
		}
	}
	return verdict.New(filepath.Join(p.Cache, "verdicts"), strings.Join(lines, "\n")), nil
}

// startsLabs says whether the tests of an exercise start a whole lab, or may be of the lab itself. The
// others start an API server at most.
func startsLabs(e exercise.Exercise) bool {
	return e.Module() == "lab" || slices.ContainsFunc(e.Packages(), func(pkg string) bool {
		return slices.Contains(strings.Split(pkg, "/"), "e2e")
	})
}

// fingerprint names all that a verdict on an exercise that is tested in the same module as e depends
// on, but for files.
func (p *Prover) fingerprint(ctx context.Context, e exercise.Exercise, module gotest.Module) (string, error) {
	program, err := verdict.Hash(p.Program)
	if err != nil {
		return "", err
	}
	inputs, err := module.Inputs(ctx)
	if err != nil {
		return "", err
	}
	if startsLabs(e) {
		assets, err := verdict.Hash(module.AssetsFolder())
		if err != nil {
			return "", err
		}
		inputs += ", lab " + assets
	} else {
		inputs, _, _ = strings.Cut(inputs, " ") // without the hash of the lab
	}
	environment, err := module.Env(ctx, "GOVERSION", "GOFLAGS", "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT", "GODEBUG")
	return strings.Join([]string{
		"workshop " + program,
		"inputs " + inputs,
		"go " + strings.Join(environment, " "),
		fmt.Sprintf("tested %t, dependents %t", p.Tested, p.Dependents),
	}, "\n"), err
}

// A file is one of the last commit, with the name that Git has for what is in it.
type file struct{ path, blob string }

// survey reads the module that an exercise is tested in.
func (p *Prover) survey(ctx context.Context, s *slot, e exercise.Exercise) (*survey, error) {
	module := p.module(s, e.Module(), e.Module())
	packages, err := module.List(ctx)
	if err != nil {
		return nil, err
	}
	fingerprint, err := p.fingerprint(ctx, e, module)
	if err != nil {
		return nil, err
	}
	replaced, err := module.Replaced(ctx)
	if err != nil {
		return nil, err
	}
	folders := e.Folders()
	for _, other := range replaced {
		folders = append(folders, path.Join(e.Module(), other))
	}
	m := &survey{packages: packages, fingerprint: fingerprint, module: e.Module(), needed: folders}
	listed, err := s.Git(ctx, append([]string{"ls-tree", "-r", "HEAD", "--"}, folders...)...)
	for line := range strings.Lines(listed) {
		if blob, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); !isTold(name) {
			m.files = append(m.files, file{name, blob})
		}
	}
	return m, err
}

// isTold says whether a file is text, or of a lesson: no patch may touch it, and what no patch touches
// and no compiler reads has no say in a verdict.
func isTold(file string) bool {
	return path.Ext(file) == ".md" || strings.Contains(file, "/lesson/checks/") || strings.Contains(file, "/lesson/exercises/")
}

// matters says whether a file can change the verdict on an exercise, for which packages are compiled.
// That of a module that it doesn't need cannot; nor can other code, unless its tests start a lab, for
// which they may build anything.
func (m *survey) matters(e exercise.Exercise, compiled []string, name string) bool {
	module := m.moduleOf(name)
	switch {
	case module != "" && module != m.module && !slices.Contains(m.needed, module):
		return false
	case path.Ext(name) != ".go" || startsLabs(e):
		return true
	case module != m.module:
		return !strings.HasSuffix(name, "_test.go")
	}
	below := strings.TrimPrefix(name, m.module+"/")
	return !slices.ContainsFunc(m.packages, func(p gotest.Listing) bool {
		return touches(m.packages, p, below) && !slices.Contains(compiled, p.Path)
	})
}

// moduleOf returns the folder of the module that a file is in, or nothing.
func (m *survey) moduleOf(name string) string {
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if slices.ContainsFunc(m.files, func(f file) bool { return f.path == folder+"/go.mod" }) {
			return folder
		}
	}
	return ""
}

// compiles returns what is compiled to test packages: they, and what they import, directly or not.
func (m *survey) compiles(tested []string) []string {
	needed := slices.Clone(tested)
	add := func(imported []string) {
		for _, other := range imported {
			if !slices.Contains(needed, other) {
				needed = append(needed, other)
			}
		}
	}
	for _, p := range m.packages {
		if slices.Contains(tested, p.Path) {
			add(slices.Concat(p.TestImports, p.XTestImports))
		}
	}
	for grown := -1; grown != len(needed); {
		grown = len(needed)
		for _, p := range m.packages {
			if slices.Contains(needed, p.Path) {
				add(p.Imports)
			}
		}
	}
	return needed
}
