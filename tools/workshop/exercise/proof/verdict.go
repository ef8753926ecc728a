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
		if m.matters(t.Exercise, compiled, f) {
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
type file struct {
	path, blob string
	module     string   // the folder of the module that it is in, or nothing
	packages   []string // of the survey's module, whose it is
}

// survey reads the module that an exercise is tested in.
func (p *Prover) survey(ctx context.Context, s *slot, e exercise.Exercise) (*survey, error) {
	module := p.module(s, e.Module(), e.Module())
	packages, err := module.List(ctx)
	if err != nil {
		return nil, err
	}
	tries, err := module.List(ctx, "-tags=try")
	if err != nil {
		return nil, err
	}
	fingerprint, err := p.fingerprint(ctx, e, module)
	if err != nil {
		return nil, err
	}
	replaced, err := module.Replaced()
	if err != nil {
		return nil, err
	}
	folders := e.Folders()
	for _, other := range replaced {
		folders = append(folders, path.Join(e.Module(), other))
	}
	m := &survey{packages: packages, tagged: slices.Concat(packages, tries), fingerprint: fingerprint, module: e.Module(), needed: folders}
	listed, err := s.Git(ctx, append([]string{"ls-tree", "-r", "HEAD", "--"}, folders...)...)
	for line := range strings.Lines(listed) {
		if blob, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); !isTold(name) {
			m.files = append(m.files, file{path: name, blob: blob})
		}
	}
	m.place()
	return m, err
}

// place finds the module and the packages of each file.
func (m *survey) place() {
	modules := map[string]bool{}
	for _, f := range m.files {
		if path.Base(f.path) == "go.mod" {
			modules[path.Dir(f.path)] = true
		}
	}
	for i := range m.files {
		f := &m.files[i]
		for folder := path.Dir(f.path); folder != "." && f.module == ""; folder = path.Dir(folder) {
			if modules[folder] {
				f.module = folder
			}
		}
		below, inside := strings.CutPrefix(f.path, m.module+"/")
		for _, p := range m.tagged {
			if inside && touches(m.tagged, p, below) {
				f.packages = append(f.packages, p.Path)
			}
		}
	}
}

// isTold says whether a file is text, or of a lesson: no patch may touch it, and what no patch touches
// and no compiler reads has no say in a verdict.
func isTold(file string) bool {
	return path.Ext(file) == ".md" || strings.Contains(file, "/lesson/checks/") || strings.Contains(file, "/lesson/exercises/")
}

// matters says whether a file can change the verdict on an exercise, for which packages are compiled.
// That of a module that it doesn't need cannot; nor can other code, unless its tests start a lab, for
// which they may build anything.
func (m *survey) matters(e exercise.Exercise, compiled []string, f file) bool {
	switch {
	case f.module != "" && f.module != m.module && !slices.Contains(m.needed, f.module):
		return false
	case path.Ext(f.path) != ".go" || startsLabs(e):
		return true
	case f.module != m.module:
		return !strings.HasSuffix(f.path, "_test.go")
	}
	return !slices.ContainsFunc(f.packages, func(p string) bool { return !slices.Contains(compiled, p) })
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
	for _, p := range m.tagged {
		if slices.Contains(tested, p.Path) {
			add(slices.Concat(p.TestImports, p.XTestImports))
		}
	}
	for grown := -1; grown != len(needed); {
		grown = len(needed)
		for _, p := range m.tagged {
			if slices.Contains(needed, p.Path) {
				add(p.Imports)
			}
		}
	}
	return needed
}
