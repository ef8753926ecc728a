package proof

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"os"
	"path"
	"slices"
	"strings"

	"example.com/hacking-a-controller/tools/workshop/exercise"
	"example.com/hacking-a-controller/tools/workshop/repository"
)

// stageRules says what a stage lacks: three exercises, of rising level.
func stageRules(exercises []exercise.Exercise) []string {
	var problems []string
	exercises = slices.DeleteFunc(slices.Clone(exercises), func(e exercise.Exercise) bool { return e.Judge.Kind == exercise.Try })
	if len(exercises) < 3 {
		problems = append(problems, fmt.Sprintf("it has %d exercises, at least three are needed: add a folder in lesson/exercises/", len(exercises)))
	}
	var levels []int
	for _, e := range exercises {
		levels = append(levels, e.Judge.Level)
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	if len(exercises) >= 3 && (len(levels) < 2 || levels[0] != 1) {
		problems = append(problems, fmt.Sprintf("the levels of its exercises are %v, they have to rise from 1: set level in a judge.yaml", levels))
	}
	return problems
}

// patchRules says what is wrong with what a patch touches. It may touch code of its stage and
// of the module with the tests, and neither the judge nor what is told. The files are from the
// top of the repository.
func patchRules(ctx context.Context, r repository.Repository, e exercise.Exercise, patch string) (files, problems []string) {
	name := strings.TrimPrefix(patch, e.Folder()+"/")
	stat, err := r.Git(ctx, "apply", "--numstat", patch)
	if err != nil {
		return nil, []string{name + " is no patch: " + err.Error() + "; make it again with git diff"}
	}
	for line := range strings.Lines(stat) {
		fields := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		file := fields[len(fields)-1]
		isCode := slices.ContainsFunc(e.Folders(), func(folder string) bool { return strings.HasPrefix(file, folder+"/") })
		switch {
		case !isCode:
			problems = append(problems, fmt.Sprintf("%s touches %s, which is not in %s", name, file, strings.Join(e.Folders(), " or ")))
		case slices.Contains(written(e), file):
			// A test may be what the learner writes.
		case strings.HasSuffix(file, "_test.go"), path.Ext(file) == ".md", strings.HasPrefix(file, e.Path("lesson")+"/"):
			problems = append(problems, fmt.Sprintf("%s touches %s: it may touch neither tests nor text", name, file))
		}
		files = append(files, file)
		if path.Ext(file) == ".go" && !strings.HasPrefix(file, e.Module()+"/") {
			problems = append(problems, fmt.Sprintf("%s touches %s, which is not compiled in %s, the module of the tests", name, file, e.Module()))
		}
	}
	return files, problems
}

// formatted says which Go files gofmt would change. The files are from the top of the repository.
func formatted(r repository.Repository, files []string) []string {
	var problems []string
	for _, file := range files {
		if path.Ext(file) != ".go" {
			continue
		}
		content, err := os.ReadFile(r.Path(file))
		if err != nil {
			continue // the patch deletes it
		}
		if pretty, err := format.Source(content); err == nil && !bytes.Equal(pretty, content) {
			problems = append(problems, fmt.Sprintf("with the patch %s is not as gofmt writes it", file))
		}
	}
	return problems
}
