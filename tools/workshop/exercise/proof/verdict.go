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

// verdict returns that of an exercise whose stage has a fingerprint.
func (p *Prover) verdict(ctx context.Context, r repository.Repository, e exercise.Exercise, fingerprint string) (verdict.Verdict, error) {
	own, err := r.Git(ctx, "rev-parse", "HEAD:"+e.Folder())
	return verdict.New(filepath.Join(p.Cache, "verdicts"), fmt.Sprintf("%s %s\n%s", e.ID(), own, fingerprint)), err
}

// startsLabs says whether the tests of an exercise start a whole lab, or may be of the lab itself. The
// others start an API server at most.
func startsLabs(e exercise.Exercise) bool {
	return e.Module() == "lab" || slices.ContainsFunc(e.Packages(), func(pkg string) bool {
		return slices.Contains(strings.Split(pkg, "/"), "e2e")
	})
}

// fingerprint names all that a verdict on the exercises of a stage depends on, which are
// tested in the same module as e, but for their own folders.
func (p *Prover) fingerprint(ctx context.Context, r repository.Repository, e exercise.Exercise, module gotest.Module) (string, error) {
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
	if err != nil {
		return "", err
	}
	lines := []string{
		"workshop " + program,
		"inputs " + inputs,
		"go " + strings.Join(environment, " "),
		fmt.Sprintf("tested %t, dependents %t", p.Tested, p.Dependents),
	}
	replaced, err := module.Replaced(ctx)
	if err != nil {
		return "", err
	}
	folders := e.Folders()
	for _, other := range replaced {
		folders = append(folders, path.Join(e.Module(), other))
	}
	listed, err := r.Git(ctx, append([]string{"ls-tree", "-r", "HEAD", "--"}, folders...)...)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(listed) {
		if _, file, _ := strings.Cut(line, "\t"); !isTold(strings.TrimSpace(file)) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// isTold says whether a file is text, or of a lesson: no patch may touch it, and what no patch touches
// and no compiler reads has no say in a verdict.
func isTold(file string) bool {
	return path.Ext(file) == ".md" || strings.Contains(file, "/lesson/checks/") || strings.Contains(file, "/lesson/exercises/")
}
